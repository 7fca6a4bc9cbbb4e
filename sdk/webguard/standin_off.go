//go:build !webtest

package webguard

// outside is the way out of every client.
func outside() network { return internet() }
