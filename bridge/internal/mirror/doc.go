// Package mirror keeps what the API server says, by informers, and answers from
// it what the feed has to state. It decides nothing, and keeps nothing of its own.
package mirror
