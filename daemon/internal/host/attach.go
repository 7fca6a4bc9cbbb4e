package host

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// attach makes the link of a foreign process. Its end is seen by that of the connection.
func (i *instance) attach(ctx context.Context, spec inspect.Spec, b *inspect.Binary, generation int) (*link, *inspect.Fault) {
	l := i.newLink(spec, b, generation)
	if err := l.reach(ctx, spec.Foreign, i.s.cfg.SocketDir); err != nil {
		l.close()
		return nil, &inspect.Fault{Summary: "its process cannot be reached", Detail: err.Error()}
	}
	i.welcome(l)
	return l, nil
}

// reach connects to a foreign process.
func (l *link) reach(ctx context.Context, at *inspect.Foreign, sockets string) (err error) {
	l.attached, l.tidy, l.addr = true, func() {}, &net.UnixAddr{Net: "unix", Name: at.Address}
	l.proc.Foreign(at.PID)
	if l.proc.Dir, err = os.MkdirTemp(sockets, socketPrefix); err != nil {
		return err
	}
	left := sync.OnceFunc(func() {
		l.died(sdk.Errorf(sdk.PluginCrashed, "the process %d, which was attached, has closed its connection", at.PID))
		l.proc.Left()
	})
	creds := plugin.PeerCredentials(l.isPlugin, func() func() { return left })
	conn, err := grpc.NewClient("passthrough:///"+at.Address, append(plugin.DialOptions(creds),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", address)
		}))...)
	if err != nil {
		return err
	}
	l.speak(conn)
	ctx, cancel := context.WithTimeout(ctx, l.cfg.StartTimeout)
	defer cancel()
	if err := l.base.Health(ctx); err != nil && sdk.OutcomeOf(err) != sdk.Unavailable {
		left()
		return err
	}
	return nil
}

// patient is how long a call may take in a process that its author looks at.
const patient = time.Hour

// unhurried is the context of a call. In a foreign process the deadline does
// not count, for a breakpoint may hold the call for long; who gives it up is
// heard as ever.
func (l *link) unhurried(ctx context.Context) (context.Context, context.CancelFunc) {
	if !l.attached {
		return ctx, func() {}
	}
	long, cancel := context.WithTimeout(context.WithoutCancel(ctx), patient)
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	return long, func() { stop(); cancel() }
}
