//go:build webtest

package webguard

// outside is the way out of every client of a test's programs.
func outside() network { return standIn() }
