package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bothyd/bothy/sdk/channel"
)

// front is the channel that FAULT_CHANNEL asks for, "MODE FILE": what it does is
// appended to the file. Without the variable there is none.
func front() channel.Channel {
	mode, file, ok := strings.Cut(os.Getenv("FAULT_CHANNEL"), " ")
	if !ok {
		return nil
	}
	return channel.Func(func(ctx context.Context, access channel.Access, say func(string)) error {
		note(file, "begin", os.Getenv("MARK"), len(access.Token))
		defer note(file, "end", os.Getenv("MARK"), len(access.Token))
		switch mode {
		case "fails":
			return errors.New("the bot's token\x1b[2J is wrong")
		case "deaf":
			say("listening to nobody")
			select {}
		}
		say("connected for " + strings.Join(access.Projects, " "))
		<-ctx.Done()
		return ctx.Err()
	})
}

func note(file string, words ...any) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err = fmt.Fprintln(f, words...); err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
}
