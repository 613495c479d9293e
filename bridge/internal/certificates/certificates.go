// Package certificates makes and renews the certificates by which the bridge
// and the daemon know each other. They lie in three secrets: an authority that
// signs nothing else, the server's and the client's.
package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// The keys of a secret of the kind kubernetes.io/tls, and of its authority.
const (
	certificatePart = "tls.crt"
	keyPart         = "tls.key"
	authorityPart   = "ca.crt"
)

// How long the authority lasts. A renewed authority keeps its key, so that it
// accepts the certificates from before.
const authorityValidity = 10 * 365 * 24 * time.Hour

// Certificates begin earlier by this much, because clocks differ.
const headStart = time.Hour

// pair is a certificate with its key.
type pair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// readPair parses the content of a secret.
func readPair(data map[string][]byte) (pair, error) {
	block, _ := pem.Decode(data[certificatePart])
	if block == nil {
		return pair{}, fmt.Errorf("%s is no certificate", certificatePart)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return pair{}, fmt.Errorf("%s: %w", certificatePart, err)
	}
	if block, _ = pem.Decode(data[keyPart]); block == nil {
		return pair{}, fmt.Errorf("%s is no key", keyPart)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return pair{}, fmt.Errorf("%s: %w", keyPart, err)
	}
	own, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return pair{}, fmt.Errorf("%s is a %T", keyPart, key)
	}
	if !own.PublicKey.Equal(certificate.PublicKey) {
		return pair{}, fmt.Errorf("%s is not the key of %s", keyPart, certificatePart)
	}
	return pair{certificate: certificate, key: own}, nil
}

func (p pair) data() (map[string][]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	return map[string][]byte{
		certificatePart: p.pem(),
		keyPart:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}, nil
}

func (p pair) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})
}

// isFresh tells whether more than a third of its time is left.
func isFresh(certificate *x509.Certificate, now time.Time) bool {
	third := certificate.NotAfter.Sub(certificate.NotBefore) / 3
	return !now.Before(certificate.NotBefore) && now.Before(certificate.NotAfter.Add(-third))
}

// newAuthority makes an authority, with the key of the former one if there is
// one.
func newAuthority(name string, key *ecdsa.PrivateKey, now time.Time) (pair, error) {
	if key == nil {
		var err error
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return pair{}, fmt.Errorf("make a key: %w", err)
		}
	}
	return sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotAfter:              now.Add(authorityValidity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, key, pair{}, now)
}

// leaf describes a certificate that the authority signs.
type leaf struct {
	name   string // common name
	names  []string
	usages []x509.ExtKeyUsage
}

func (l leaf) split() (dns []string, addresses []net.IP) {
	for _, name := range l.names {
		if address := net.ParseIP(name); address != nil {
			addresses = append(addresses, address)
		} else {
			dns = append(dns, name)
		}
	}
	return dns, addresses
}

func (l leaf) make(authority pair, validity time.Duration, now time.Time) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make a key: %w", err)
	}
	dns, addresses := l.split()
	end := now.Add(validity)
	if end.After(authority.certificate.NotAfter) {
		end = authority.certificate.NotAfter
	}
	return sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: l.name},
		NotAfter:    end,
		DNSNames:    dns,
		IPAddresses: addresses,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: l.usages,
	}, key, authority, now)
}

// check says why a certificate must be made anew; nil: it is good.
func (l leaf) check(have pair, authority pair, now time.Time) error {
	dns, addresses := l.split()
	got := have.certificate
	switch {
	case !isFresh(got, now):
		return fmt.Errorf("it ends at %s", got.NotAfter.Format(time.RFC3339))
	case got.CheckSignatureFrom(authority.certificate) != nil:
		return errors.New("another authority has signed it")
	case got.Subject.CommonName != l.name,
		!slices.Equal(got.DNSNames, dns),
		!slices.EqualFunc(got.IPAddresses, addresses, net.IP.Equal),
		!slices.Equal(got.ExtKeyUsage, l.usages):
		return errors.New("it has other names or uses")
	}
	return nil
}

// sign makes a certificate from the template. Without an authority the
// certificate signs itself.
func sign(template *x509.Certificate, key *ecdsa.PrivateKey, authority pair, now time.Time) (pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return pair{}, fmt.Errorf("make a serial number: %w", err)
	}
	template.SerialNumber = serial.Add(serial, big.NewInt(1))
	template.NotBefore = now.Add(-headStart)
	if authority.certificate == nil {
		// The id comes from the key, so that authorities with one key are the same.
		public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			return pair{}, fmt.Errorf("write a key: %w", err)
		}
		identity := sha256.Sum256(public)
		template.SubjectKeyId = identity[:20]
		authority = pair{certificate: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority.certificate, &key.PublicKey, authority.key)
	if err != nil {
		return pair{}, fmt.Errorf("sign a certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, fmt.Errorf("read a certificate: %w", err)
	}
	return pair{certificate: certificate, key: key}, nil
}
