// Package api holds the Go stubs of ../../../proto, one package for each of
// protobuf's. hack/generate makes them.
package api
