package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// attach puts the files that came with a prompt into the folder of its run, and says in the prompt where they are. Pictures
// go to the model besides.
func (f *front) attach(ctx context.Context, m *message, p *rpc.Prompt, files []attachment) error {
	if len(files) == 0 {
		return nil
	}
	run, err := f.folderOf(ctx, m)
	if err != nil {
		return err
	}
	p.Run = run.Alias
	// A file that is brought again after a crash gets another name, so that the text of the prompt is no key.
	p.Key = ""
	var names []string
	room := mostPictures
	for _, a := range files {
		var content []byte
		tries := 0
		err := f.reach(ctx, func() (err error) {
			if content, err = f.fetched(ctx, a); isBroken(err) {
				if tries++; tries == mostFetches { // it is this file, and everybody waits for it
					return sdk.Errorf(sdk.Unavailable, "%v", err)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		name, err := f.daemon.PutFile(ctx, number(run.ID), "", a.Name, int64(len(content)), bytes.NewReader(content))
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		names = append(names, "/workspace/"+name)
		if size := base64.StdEncoding.EncodedLen(len(content)); a.picture && size <= room {
			room -= size
			p.Media = append(p.Media, sdk.Medium{MIMEType: http.DetectContentType(content), Data: base64.StdEncoding.EncodeToString(content)})
		}
	}
	came := "Files that came with this: " + strings.Join(names, ", ")
	if p.Prompt != "" {
		came = "\n\n" + came
	}
	p.Prompt += came
	p.Quoted += len(came) // no words of the person
	return nil
}

// fetched is the contents of a file.
func (f *front) fetched(ctx context.Context, a attachment) ([]byte, error) {
	if a.Size > mostFile {
		return nil, sdk.Errorf(sdk.Overflow, "%s has more than %d MB, which Telegram hands to no bot", a.Name, mostFile>>20)
	}
	at, err := f.bot.getFile(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	content, err := f.bot.fetch(ctx, at.Path, mostFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return content, nil
}

// mostFetches is how often a file is asked for that Telegram fails to hand out, which takes some minutes.
const mostFetches = 10

// mostPictures is how much of pictures goes to the model with a prompt, in base64: a message to the daemon has 4 MiB. The
// others lie in the folder like any file.
const mostPictures = 3 << 20

// mostFile is how large a file is that the Bot API hands out.
const mostFile = 20 << 20
