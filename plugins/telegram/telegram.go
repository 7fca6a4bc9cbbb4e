package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/client"
)

// settings are the attributes of the block.
type settings struct {
	Token string `hcl:"token" secret:"true" doc:"The bot's token, from @BotFather."`
	API   string `hcl:"api" default:"https://api.telegram.org" doc:"Where the Bot API is: over https, or on this machine."`
}

// telegram is the plugin with its configuration.
type telegram struct {
	settings settings
	bot      *bot
	instance string // the label of its block
}

func (t *telegram) configure(_ context.Context, s sdk.Settings) (err error) {
	t.instance = s.Instance
	t.bot, err = newBot(t.settings.API, t.settings.Token)
	return err
}

// Serve implements channel.Channel.
func (t *telegram) Serve(ctx context.Context, access channel.Access, say func(status string)) error {
	if t.bot == nil || len(access.Projects) == 0 {
		return sdk.Errorf(sdk.Unavailable, "the plugin has no token, or no project: see docs/telegram.md")
	}
	c := &client.Client{Socket: access.Socket, Token: access.Token, Name: "telegram"}
	defer func() { _ = c.Close() }() // nothing hangs on it
	hello, err := c.Hello(ctx)
	if err != nil {
		return err
	}
	t.bot.told = say
	me, err := t.connect(ctx, say)
	if err != nil {
		return err
	}
	f := newFront(t.bot, me, c, entries{c}, t.instance, access.Projects[0])
	f.since = hello.Seq
	return f.serve(ctx, say)
}

// connect asks who the bot is until Telegram answers, and makes it keep updates for this plugin.
func (t *telegram) connect(ctx context.Context, say func(string)) (me user, err error) {
	err = patiently(ctx, t.bot, say, func() error {
		if me, err = t.bot.getMe(ctx); err != nil {
			return err
		}
		return t.bot.deleteWebhook(ctx)
	})
	if err != nil {
		return me, err
	}
	_ = t.bot.setMyCommands(ctx, commandList()) // the commands work without their list
	return me, nil
}

// patiently does what asks Telegram until it answers, and says why it waits. Only a token that is wrong ends it.
func patiently(ctx context.Context, b *bot, say func(string), do func() error) error {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := do()
		switch {
		case err == nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case isUnknown(err):
			return sdk.Errorf(sdk.Unavailable, "Telegram knows no bot with this token: see `token` of the block, and @BotFather")
		case isTaken(err):
			say("another program asks for this bot's messages: end it, or give each a bot of its own")
			wait = max(wait, 5*time.Second)
		default:
			say(fmt.Sprintf("waits for Telegram: %v", err))
		}
		if err := b.pause(ctx, sdk.Jittered(wait)); err != nil {
			return err
		}
	}
}

// reach does what asks Telegram, again for as long as that is out of reach. What Telegram refuses is returned.
func (f *front) reach(ctx context.Context, do func() error) (no error) {
	err := patiently(ctx, f.bot, f.say, func() error {
		if no = do(); isPassing(no) || isUnknown(no) {
			return no
		}
		return nil
	})
	if err != nil {
		return err
	}
	return no
}

var _ channel.Channel = (*telegram)(nil)
