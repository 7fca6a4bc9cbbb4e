package host

import (
	"fmt"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk/plugin"
)

// explain says why go-plugin could not connect to a process that was started:
// go-plugin knows only that its line was not the expected one.
func (l *link) explain(cause error, timedOut bool) *inspect.Fault {
	said, ended := l.proc.Said(), false
	select {
	case <-l.proc.Done():
		ended = true
	default:
	}
	switch fault := misspoken(said); {
	case fault != nil:
		return fault
	case said != "":
		return &inspect.Fault{Summary: "the connection to it failed", Detail: cause.Error() + " (" + l.proc.How() + ")"}
	case ended && !timedOut:
		return &inspect.Fault{Summary: "it ended before its handshake", Detail: l.proc.How()}
	}
	return &inspect.Fault{Summary: "it did not start in time", Detail: "It printed no handshake. Run it by hand to see what it waits for."}
}

// misspoken is what is wrong with what was said in the place of a handshake; nil where
// that is one, and where nothing was said.
func misspoken(said string) *inspect.Fault {
	if said == "" {
		return nil
	}
	parts := strings.Split(said, "|")
	if len(parts) < 4 {
		return &inspect.Fault{
			Summary: "it is no plugin", Permanent: true,
			Detail: "Its first line on standard output is no handshake: " + inspect.Escaped(said) + ". A plugin must print nothing before its SDK serves.",
		}
	}
	for _, c := range []struct {
		at         int
		what, want string
	}{
		{0, "go-plugin core protocol", strconv.Itoa(goplugin.CoreProtocolVersion)},
		{1, "plugin protocol", strconv.Itoa(plugin.Protocol)},
		{4, "transport", string(goplugin.ProtocolGRPC)},
	} {
		have := string(goplugin.ProtocolNetRPC) // what a line without a transport means
		if c.at < len(parts) {
			have = parts[c.at]
		}
		if have != c.want {
			return versionError(c.what, have, c.want)
		}
	}
	return nil
}

func versionError(what, have, want string) *inspect.Fault {
	if len(have) > 40 {
		have = have[:40]
	}
	return &inspect.Fault{
		Summary: "it speaks another protocol", Permanent: true,
		Detail: fmt.Sprintf("Its %s: have %q, want %q. Build it with the SDK of this version of Bothy.", what, have, want),
	}
}
