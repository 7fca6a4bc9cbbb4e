package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostFile is how large a file is that the Bot API hands out.
const mostFile = 20 << 20

// attach gets the files that came with a prompt: pictures go to the model.
func (f *front) attach(ctx context.Context, p *rpc.Prompt, files []attachment) error {
	for _, a := range files {
		content, err := f.fetched(ctx, a)
		if err != nil {
			return err
		}
		if a.picture {
			p.Media = append(p.Media, sdk.Medium{MIMEType: http.DetectContentType(content), Data: base64.StdEncoding.EncodeToString(content)})
		}
	}
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
