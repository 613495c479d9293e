package convert

import "fmt"

// FieldError names a field that the daemon has no words for. A pod that
// demands it must not be placed as if it did not.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s", e.Field, e.Reason)
}

func unsupported(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}
