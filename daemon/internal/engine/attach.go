package engine

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// maxAttachments bounds the files of one prompt.
const maxAttachments = 50

// Attachments reads what people attach to prompts, under the project's rules.
type Attachments interface {
	// Attached is what a model reads of the files, and those that are pictures. One that
	// cannot be read is an error.
	Attached(ctx context.Context, project string, files []sdk.Attachment) (string, []sdk.Medium, error)
}

// attached is what the files of a submission say, before there is a run for it.
func (e *Engine) attached(ctx context.Context, p placed, s Submission) (string, []sdk.Medium, error) {
	switch {
	case len(s.Attachments) == 0:
		return "", nil, nil
	case s.Origin.Channel != "":
		return "", nil, sdk.Errorf(sdk.Permission, "a channel attaches no files of the project; name them in the prompt")
	case len(s.Attachments) > maxAttachments:
		return "", nil, sdk.Errorf(sdk.Validation, "%d files are attached, and a prompt takes %d", len(s.Attachments), maxAttachments)
	case e.cfg.Attachments == nil:
		return "", nil, sdk.Errorf(sdk.Unavailable, "this daemon attaches no files")
	}
	return e.cfg.Attachments.Attached(ctx, p.project.Root, s.Attachments)
}
