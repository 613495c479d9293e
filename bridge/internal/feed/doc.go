// Package feed is the client of sluice.v1.Feed. It states to the daemon what a
// Source holds, all of it when it connects and then what changed, and hands on
// what the daemon decides.
//
// It is level-triggered: a change names what changed, not how. What the Source
// says at that moment is compared with what was stated last, and the difference
// is sent, so that changes may come twice, late, or for nothing.
package feed
