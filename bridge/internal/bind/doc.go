// Package bind carries out what the daemon decides: it binds pods to nodes, and
// evicts them, many at a time, each until the API server has said how it ended.
package bind
