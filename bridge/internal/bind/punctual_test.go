package bind

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

// lateContext has a deadline that has passed, and a timer that has not fired.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now(), true }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestALateRequestIsNotSent(t *testing.T) {
	sent := 0
	transport := Punctual(roundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, nil
	}))
	inTime, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	cases := []struct {
		name string
		ctx  context.Context
		sent int
		err  error
	}{
		{"in time", inTime, 1, nil},
		{"without a deadline", t.Context(), 1, nil},
		{"late", lateContext{t.Context()}, 0, context.DeadlineExceeded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			sent = 0
			request, err := http.NewRequestWithContext(c.ctx, http.MethodPost, "http://api", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := transport.RoundTrip(request); !errors.Is(err, c.err) || sent != c.sent {
				t.Errorf("sent %d times with error %v, want %d and %v", sent, err, c.sent, c.err)
			}
		})
	}
}
