package bind

import (
	"context"
	"net/http"
	"time"
)

// Punctual sends no request whose deadline has passed. The timer of a context
// does not suffice: after a process was frozen, requests that waited may go out
// before the timer fires.
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
