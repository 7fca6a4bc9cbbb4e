package host

import (
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Dial connects a plugin to the services that the daemon serves under a broker
// id. The connection is made in the background; credentials say whom the
// plugin accepts at the other end.
func Dial(broker *goplugin.GRPCBroker, id uint32, opts ...grpc.DialOption) (*Client, func() error, error) {
	conn, err := broker.DialWithOptions(id, opts...)
	if err != nil {
		return nil, nil, err
	}
	return NewClient(conn), conn.Close, nil
}
