// Package e2e tests the bridge between a real control plane and the real daemon.
// Its tests are skipped where their programs are missing.
package e2e
