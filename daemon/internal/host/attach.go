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

// attach brings a foreign process to the point where it can be called. Its end
// is seen by that of the connection.
func (i *instance) attach(ctx context.Context, spec inspect.Spec, generation int) (*link, *inspect.Fault) {
	b, err := inspect.OpenBinary(spec.Foreign.Path)
	if err != nil {
		return nil, &inspect.Fault{Summary: "its binary cannot be used", Detail: err.Error(), Permanent: true}
	}
	defer b.Close()
	if err := i.s.inspect.Sum(b); err != nil {
		return nil, &inspect.Fault{Summary: "its binary cannot be used", Detail: err.Error(), Permanent: true}
	}
	i.found(b)
	l, err := i.dialForeign(ctx, spec, b, generation)
	if err != nil {
		return nil, &inspect.Fault{Summary: "its process cannot be reached", Detail: err.Error(), Permanent: true}
	}
	i.welcome(l)
	if fail := i.prepare(ctx, l); fail != nil {
		l.close()
		fail.Permanent = true
		return nil, fail
	}
	return l, nil
}

// dialForeign makes the link of a foreign process.
func (i *instance) dialForeign(ctx context.Context, spec inspect.Spec, b *inspect.Binary, generation int) (*link, error) {
	dir, err := os.MkdirTemp(i.s.cfg.SocketDir, socketPrefix)
	if err != nil {
		return nil, err
	}
	l := i.newLink(spec, b, generation)
	l.attached, l.tidy, l.addr = true, func() {}, &net.UnixAddr{Net: "unix", Name: spec.Foreign.Address}
	l.proc.Dir = dir
	l.proc.Foreign(spec.Foreign.PID)
	left := sync.OnceFunc(func() {
		l.died(sdk.Errorf(sdk.PluginCrashed, "the process %d, which was attached, has closed its connection", spec.Foreign.PID))
		l.proc.Left()
	})
	creds := plugin.PeerCredentials(l.isPlugin, func() func() { return left })
	conn, err := grpc.NewClient("passthrough:///"+spec.Foreign.Address, append(plugin.DialOptions(creds),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", address)
		}))...)
	if err != nil {
		l.close()
		return nil, err
	}
	l.speak(conn)
	ctx, cancel := context.WithTimeout(ctx, l.cfg.StartTimeout)
	defer cancel()
	if err := l.base.Health(ctx); err != nil && sdk.OutcomeOf(err) != sdk.Unavailable {
		left()
		l.close()
		return nil, err
	}
	return l, nil
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

// origin says where what serves comes from.
func (i *instance) origin() string {
	if i.link != nil && i.link.attached {
		return "dev"
	}
	return i.file.Origin
}
