package wire

// What the daemon and a plugin show each other before anything else. Package
// sdk/plugin gives them to the outside.
const (
	Protocol    = 1
	CookieKey   = "BOTHY_PLUGIN"
	CookieValue = "c4e1f0a2-bothy-plugin"
	EnvHostPID  = "BOTHY_HOST_PID"
)

// What go-plugin's client asks of every plugin: the version of its own protocol in
// the handshake, where the socket is to be, which versions of ours it offers, the
// service whose health it asks for and the one that ends the process.
const (
	CoreProtocol   = 1
	EnvSocketDir   = "PLUGIN_UNIX_SOCKET_DIR"
	EnvVersions    = "PLUGIN_PROTOCOL_VERSIONS"
	HealthService  = "plugin"
	ControlService = "plugin.GRPCController"
)
