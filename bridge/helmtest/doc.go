// Package helmtest tests the Helm chart. It is a module of its own, so that the
// bridge does not depend on Helm.
package helmtest
