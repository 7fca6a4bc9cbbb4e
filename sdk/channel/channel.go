// Package channel is the plugin kind that is a front end: it brings what people
// write elsewhere, in a chat, say, to the daemon, and brings them the answers.
//
// A plugin implements Channel, mostly as a Func, and serves it with sdk/plugin.
// It works by the daemon's socket like any other client, for the projects that
// the operator's block names:
//
//	func main() {
//		plugin.Serve(plugin.Options{Name: "chat", Channel: channel.Func(serve)})
//	}
//
//	func serve(ctx context.Context, access channel.Access, say func(status string)) error {
//		c := client.Client{Socket: access.Socket, Token: access.Token, Name: "chat"}
//		defer c.Close()
//		say("connected")
//		for message := range messages(ctx) {
//			_, err := c.Act(ctx, rpc.Prompt{
//				Project: access.Projects[0], Run: message.Chat, Prompt: message.Text,
//				From: &sdk.From{Person: message.Sender, Message: message.ID},
//			})
//			...
//		}
//		return ctx.Err()
//	}
package channel

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Channel is a front end.
type Channel interface {
	// Serve is the work of a channel, and lasts until ctx ends. What it returns
	// before that is why it cannot go on; the host opens it again after a while,
	// longer each time. It must return soon after ctx ends: a successor, with
	// another configuration, does not begin before that, and the host does not
	// wait for long. Only one Serve runs at a time.
	//
	// say tells people in a few words how things are, such as "connected as
	// @bot"; the last words stand in `bothy plugins list`. It may be called from
	// any goroutine, and does nothing when Serve has returned.
	Serve(ctx context.Context, access Access, say func(status string)) error
}

// Access is what a channel is lent for one Serve.
type Access struct {
	Socket   string   // path of the daemon's socket
	Token    string   // for the hello on it; good in this plugin's processes only, and until Serve returns
	Projects []string // absolute paths: with the token, a connection reaches runs that it began in these, and no others
}

// Format keeps the token out of whatever is printed.
func (a Access) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "access to %s for the projects %q", a.Socket, a.Projects) // fmt keeps no errors
}

// Keeps is a scheme, for the Schemes of plugin.Options, of entries that the channel keeps for itself and no model sees: the
// place up to which it has read, say, and what it has sent. It sets, gets, lists and removes them over its connection by
// path alone, without a run and a project; they outlive a crash of the plugin and of the daemon. The name is one that
// no other plugin has, such as that of the plugin.
func Keeps(name string) sdk.Scheme {
	return sdk.Scheme{Name: name, Category: sdk.CategoryData, Scope: "run", WritableBy: []sdk.Writer{sdk.WriterClient}}
}

// Func is a Channel made of a function.
type Func func(ctx context.Context, access Access, say func(status string)) error

// Serve calls f.
func (f Func) Serve(ctx context.Context, access Access, say func(status string)) error {
	return f(ctx, access, say)
}

var _ Channel = Func(nil)
