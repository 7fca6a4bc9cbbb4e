package host

import (
	"google.golang.org/grpc"
)

// Dial prepares a connection to the services that a daemon serves at the address
// of Configure: the path of a Unix socket. It connects with the first request,
// and shows the token with each. Credentials among opts say whom the plugin
// accepts at the other end.
func Dial(address, token string, opts ...grpc.DialOption) (*Client, func() error, error) {
	conn, err := grpc.NewClient("unix:"+address, opts...)
	if err != nil {
		return nil, nil, err
	}
	c := NewClient(conn)
	c.token = token
	return c, conn.Close, nil
}
