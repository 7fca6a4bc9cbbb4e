package wire

// What the daemon and a plugin show each other before anything else. Package
// sdk/plugin gives them to the outside.
const (
	Protocol    = 1
	CookieKey   = "BOTHY_PLUGIN"
	CookieValue = "c4e1f0a2-bothy-plugin"
	EnvHostPID  = "BOTHY_HOST_PID"
)
