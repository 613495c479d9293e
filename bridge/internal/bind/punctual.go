package bind

import (
	"context"
	"net/http"
	"time"
)

// Punctual sends no request whose deadline has passed. The timer of a context is
// not enough: where a process was frozen and goes on, requests that waited for
// their turn may overtake it.
func Punctual(next http.RoundTripper) http.RoundTripper { return punctual{next} }

type punctual struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p punctual) RoundTrip(request *http.Request) (*http.Response, error) {
	if deadline, ok := request.Context().Deadline(); ok && !time.Now().Before(deadline) {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, context.DeadlineExceeded
	}
	return p.next.RoundTrip(request)
}
