package conformance

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
)

// ChannelChecks are the checks of the kind channel. Without a daemon it can only
// begin and end; with Subject.Call alone it does, for it may reach out.
func ChannelChecks(m sdk.Manifest) []Check {
	return []Check{
		{"channel: grant", func(context.Context, Subject) error {
			if !slices.Contains(m.Grants, sdk.GrantChannel) {
				return fmt.Errorf("a channel must ask for the grant %q: without it the daemon never serves it", sdk.GrantChannel)
			}
			return nil
		}},
		{"channel: what it keeps", func(context.Context, Subject) error { return keepsAlone(m) }},
		{"channel: serve without a daemon", lonely},
	}
}

// keepsAlone finds schemes of which the channel could not keep entries for itself, or not for itself alone.
func keepsAlone(m sdk.Manifest) error {
	for _, x := range m.Schemes {
		switch {
		case !x.Admits(sdk.WriterClient):
		case x.Scope == "run" && x.Admits(sdk.WriterModel):
			return fmt.Errorf("a model may write entries of %s://, which the channel keeps for itself: declare the scheme as channel.Keeps does, written by clients alone", x.Name)
		case x.Scope == "":
			return fmt.Errorf("the scheme %s:// has no scope: say run for entries that the channel keeps for itself", x.Name)
		}
	}
	return nil
}

// lonely serves the channel a socket on which nobody listens, and ends it.
func lonely(ctx context.Context, s Subject) error {
	if !s.Call {
		return Skip("give --call to have it served: it may reach out")
	}
	const token = "a-token-that-opens-nothing"
	client := channel.NewClient(s.Conn)
	over := make(chan error, 1)
	go func() {
		access := channel.Access{Socket: filepath.Join(s.RunDir, "none.sock"), Token: token, Projects: []string{s.Project}}
		over <- client.Serve(ctx, access, func(string) {})
	}()
	err := stop(ctx, over, client.Cancel)
	if err != nil && strings.Contains(err.Error(), token) {
		return fmt.Errorf("the channel shows its token in an error")
	}
	if answered(err) == nil && err != nil {
		return err
	}
	return alive(ctx, s)
}
