package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type authCmd struct {
	List   authListCmd   `cmd:"" default:"withargs" help:"List the keys that the configuration asks for, and where each is."`
	Login  authLoginCmd  `cmd:"" help:"Ask for a key and keep it in the keyring."`
	Logout authLogoutCmd `cmd:"" help:"Remove a key from wherever it is kept."`
}

type authListCmd struct {
	Provider string `arg:"" optional:"" complete:"plugin" help:"Of this provider or plugin alone, or the key of this name."`
}

// Run prints where each key is.
func (cmd authListCmd) Run(ctx context.Context, c *console) error {
	ask := func(cl *client.Client) (rpc.Keys, error) {
		found, err := cl.Keys(ctx)
		if err == nil && cmd.Provider != "" {
			all := found.Keys
			if found.Keys = keysOf(all, cmd.Provider); len(found.Keys) == 0 {
				return found, noKeyOf(all, cmd.Provider)
			}
		}
		return found, err
	}
	return query(ctx, c, ask, func(found rpc.Keys) error {
		err := tableOf(c, found.Keys, "the configuration asks for no key", []string{"KEY", "IN", "USED BY"}, func(k rpc.Key) []string {
			return []string{k.Name, keyPlace(k.Place, found.File), strings.Join(k.UsedBy, ", ")}
		})
		if found.Keyring != "" {
			c.say("the keyring is not asked: %s", show.Line(found.Keyring))
		}
		if found.Problem != "" {
			c.say("%s is not used: %s", show.Line(found.File), show.Line(found.Problem))
		}
		return err
	})
}

// keyPlace says where a key is.
func keyPlace(place, file string) string {
	switch place {
	case "":
		return "nowhere"
	case rpc.KeyInEnvironment:
		return "the daemon's environment"
	case rpc.KeyInFile:
		return file
	case rpc.KeyInMemory:
		return "the daemon, until it ends"
	}
	return "the " + place
}

// keysOf are those that a block of a label asks for, or the one of a name.
func keysOf(all []rpc.Key, of string) []rpc.Key {
	return slices.DeleteFunc(slices.Clone(all), func(k rpc.Key) bool {
		return k.Name != of && !slices.ContainsFunc(k.UsedBy, func(user string) bool { return labelOf(user) == of })
	})
}

// labelOf is the label of a block, as "openai" of "provider openai".
func labelOf(user string) string {
	_, label, _ := strings.Cut(user, " ")
	return label
}

// noKeyOf says what does ask for a key.
func noKeyOf(all []rpc.Key, of string) error {
	var labels []string
	for _, k := range all {
		for _, user := range k.UsedBy {
			labels = append(labels, labelOf(user))
		}
	}
	slices.Sort(labels)
	there := strings.Join(slices.Compact(labels), ", ")
	if of == "" {
		return usageError{"name a provider or plugin: " + there}
	}
	return usageError{fmt.Sprintf("no block of the configuration that is called %q asks for a key, and no key is called so; those that ask for one: %s", of, there)}
}

type authLoginCmd struct {
	Provider string   `arg:"" optional:"" complete:"plugin" help:"The provider or plugin whose block asks for the key, or the name of the key."`
	Rest     []string `arg:"" optional:"" hidden:""`
	File     bool     `help:"Keep it in credentials.json beside the configuration, as text that only you can read, and not in the keyring."`
}

// Help adds to the verb's help.
func (authLoginCmd) Help() string {
	return `The key is asked for in the terminal, where it is not shown, or read from standard input. It is never an argument: others can see those, and shells keep them. What uses the key is configured anew at once.

Where there is no keyring (Secret Service on Linux, Keychain on macOS) the daemon keeps the key until it ends, and says so.

Examples:

    bothy auth login openai
    pass show openai | bothy auth login openai
    bothy auth login anthropic --file
`
}

// Run reads the key and gives it to the daemon.
func (cmd authLoginCmd) Run(ctx context.Context, c *console) error {
	if len(cmd.Rest) > 0 {
		return usageError{"a key is no argument: your shell has written it down, so make another one; it is asked for, or read from standard input"}
	}
	c.told = true // that a key is missing is what this is about
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	name, err := cmd.name(ctx, cl)
	if err != nil {
		return err
	}
	key, err := c.readKey(name)
	if err != nil {
		return err
	}
	return queryWith(c, cl, func(*client.Client) (rpc.KeyKept, error) {
		return cl.Login(ctx, rpc.KeyLogin{Of: name, Key: key, File: cmd.File})
	}, c.tellKept)
}

// name is the key that is meant. The only one that is asked for needs no word.
func (cmd authLoginCmd) name(ctx context.Context, cl *client.Client) (string, error) {
	found, err := cl.Keys(ctx)
	if err != nil {
		return "", err
	}
	asked := slices.DeleteFunc(found.Keys, func(k rpc.Key) bool { return len(k.UsedBy) == 0 })
	named := asked
	if cmd.Provider != "" {
		named = keysOf(asked, cmd.Provider)
	}
	switch {
	case len(named) == 1:
		return named[0].Name, nil
	case len(named) == 0 || cmd.Provider == "":
		return "", noKeyOf(asked, cmd.Provider)
	}
	var names []string
	for _, k := range named {
		names = append(names, k.Name)
	}
	return "", usageError{fmt.Sprintf("%s asks for several keys; name one: %s", cmd.Provider, strings.Join(names, ", "))}
}

// tellKept says where a key is now, and what there is to know of it.
func (c *console) tellKept(k rpc.KeyKept) error {
	err := c.lines(fmt.Sprintf("%s is in %s", k.Name, keyPlace(k.Place, k.File)))
	for _, text := range slices.Concat(k.Warnings, k.Problems) {
		c.say("bothy: %s", show.Text(text))
	}
	return err
}

// readKey asks for a key where a person can be asked, and else reads standard input to its end.
func (c *console) readKey(name string) (string, error) {
	text, err := "", error(nil)
	switch f, is := c.in.(*os.File); {
	case !c.inTTY:
		text, err = c.readInput()
	case !is || c.keys == nil:
		err = usageError{"nobody can be asked here: give the key on standard input"}
	default:
		text, err = c.unseen(f, fmt.Sprintf("%s (it is not shown): ", show.Line(name)))
	}
	if text = strings.TrimRight(text, "\r\n"); err == nil && strings.TrimSpace(text) == "" {
		err = usageError{"no key was given: it is typed in a terminal, or read from standard input"}
	}
	return text, err
}

// unseen reads a line that the terminal does not show. Ctrl-C leaves the terminal as it was.
func (c *console) unseen(f *os.File, question string) (string, error) {
	fd := int(f.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("the terminal: %w", err)
	}
	interrupts, stop := c.interrupts()
	defer stop()
	fmt.Fprint(c.err, question)
	type line struct {
		text []byte
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		typed <- line{text, err}
	}()
	select {
	case l := <-typed:
		c.say("")
		return string(l.text), l.err
	case <-interrupts:
		c.say("")
		return "", errors.Join(exitError{code: exitAborted}, term.Restore(fd, state))
	}
}

type authLogoutCmd struct {
	Provider string `arg:"" complete:"plugin" help:"The provider or plugin whose block asks for the key, or the name of the key."`
}

// Run removes the key.
func (cmd authLogoutCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (rpc.KeyRemoved, error) {
		return cl.Logout(ctx, rpc.KeyRef{Of: cmd.Provider})
	}, func(r rpc.KeyRemoved) error {
		err := c.lines(fmt.Sprintf("%s was removed from: %s", r.Name, strings.Join(r.From, ", ")))
		if r.Still != "" {
			c.say("bothy: %s is still in %s", show.Line(r.Name), keyPlace(r.Still, "credentials.json"))
		}
		for _, text := range r.Problems {
			c.say("bothy: %s", show.Text(text))
		}
		return err
	})
}
