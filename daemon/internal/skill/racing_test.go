//go:build race

package skill

// racing says that the race detector is at work, which takes four times as long
// and more.
const racing = true
