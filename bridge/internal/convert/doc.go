// Package convert says in the daemon's words what Kubernetes objects mean to a
// scheduler. Its functions are pure: the same objects give the same messages,
// byte for byte once marshaled deterministically.
package convert
