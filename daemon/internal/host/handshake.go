package host

import (
	"fmt"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/bothyd/bothy/sdk/plugin"
)

// explain says why go-plugin could not connect to a process that was started:
// go-plugin knows only that its line was not the expected one.
func (p *process) explain(cause error, timedOut bool) *startError {
	said := p.said()
	if said == "" {
		return p.silent(timedOut)
	}
	parts := strings.Split(said, "|")
	if len(parts) < 4 {
		return &startError{
			summary: "it is no plugin", permanent: true,
			detail: "Its first line on standard output is no handshake: " + escaped(said) + ". A plugin must print nothing before its SDK serves.",
		}
	}
	if e := wrongVersion(parts); e != nil {
		return e
	}
	return &startError{summary: "the connection to it failed", detail: cause.Error() + " (" + p.how() + ")"}
}

func (p *process) silent(timedOut bool) *startError {
	select {
	case <-p.done:
		if !timedOut {
			return &startError{summary: "it ended before its handshake", detail: p.how()}
		}
	default:
	}
	return &startError{summary: "it did not start in time", detail: "It printed no handshake. Run it by hand to see what it waits for."}
}

// wrongVersion compares the versions that a handshake line names.
func wrongVersion(parts []string) *startError {
	if have := parts[0]; have != strconv.Itoa(goplugin.CoreProtocolVersion) {
		return versionError("go-plugin core protocol", have, strconv.Itoa(goplugin.CoreProtocolVersion))
	}
	if have := parts[1]; have != strconv.Itoa(plugin.Protocol) {
		return versionError("plugin protocol", have, strconv.Itoa(plugin.Protocol))
	}
	if len(parts) < 5 || parts[4] != string(goplugin.ProtocolGRPC) {
		have := string(goplugin.ProtocolNetRPC)
		if len(parts) >= 5 {
			have = parts[4]
		}
		return versionError("transport", have, string(goplugin.ProtocolGRPC))
	}
	return nil
}

func versionError(what, have, want string) *startError {
	if len(have) > 40 {
		have = have[:40]
	}
	return &startError{
		summary: "it speaks another protocol", permanent: true,
		detail: fmt.Sprintf("Its %s: have %q, want %q. Build it with the SDK of this version of Bothy.", what, have, want),
	}
}

// escaped shows at most 200 bytes of something that may be anything.
func escaped(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(s[:most]) + " and more"
	}
	return strconv.Quote(s)
}
