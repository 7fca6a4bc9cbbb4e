package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Projection says what a model reads of an entry at a level, which is [sdk.Visible] or
// [sdk.Summarized], where it is shown entries (an agent with view = "packet"). It depends on the
// entry and the level alone, for it is asked once for each version of an entry; it is asked about
// several at once, belongs to no call, so that it may ask the daemon for nothing, and has two
// seconds. Of its text 64 KiB are shown. An error is shown in the place of the text.
type Projection func(ctx context.Context, e sdk.Entry, level sdk.Visibility) (string, error)

// projections are the names of the schemes that the plugin projects.
func (o *Options) projections() []string {
	return slices.Sorted(maps.Keys(o.Projections))
}

// checkProjections finds projections that no entry would come to.
func (o *Options) checkProjections() error {
	for _, name := range o.projections() {
		at := slices.IndexFunc(o.Schemes, func(s sdk.Scheme) bool { return s.Name == name })
		switch {
		case o.Projections[name] == nil:
			return fmt.Errorf("Options.Projections has no function for %s://", name)
		case at < 0:
			return fmt.Errorf("Options.Projections has %s://, which is not among Options.Schemes: a plugin projects entries of its own schemes", name)
		case !o.Schemes[at].ModelVisible:
			return fmt.Errorf("Options.Projections has %s://, which no model is shown: set ModelVisible of the scheme", name)
		}
	}
	return nil
}

// Project asks the projection of an entry's scheme.
func (s *service) Project(ctx context.Context, req *pb.ProjectRequest) (*pb.ProjectResponse, error) {
	text, err := s.project(ctx, req)
	if err != nil {
		return &pb.ProjectResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.ProjectResponse{Text: wire.Text(text)}, nil
}

func (s *service) project(ctx context.Context, req *pb.ProjectRequest) (text string, err error) {
	e := wire.ReadEntries([]*pb.Entry{req.GetEntry()})[0]
	fn := s.o.Projections[e.Scheme()]
	if fn == nil {
		return "", sdk.Errorf(sdk.NotFound, "the plugin projects no entries of %s://", e.Scheme())
	}
	level := sdk.Visibility(req.GetLevel())
	if level != sdk.Visible && level != sdk.Summarized {
		return "", sdk.Errorf(sdk.Validation, "entries are shown at the levels %s and %s, not at %q", sdk.Visible, sdk.Summarized, level)
	}
	defer wire.Rescue("the plugin's projection of "+e.Scheme()+"://", &err)
	return fn(ctx, e, level)
}

// Project asks what a model reads of an entry at a level. Only a scheme that the manifest's
// projections name is known.
func (c *Client) Project(ctx context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
	resp, err := c.rpc.Project(ctx, &pb.ProjectRequest{Entry: wire.Entries([]sdk.Entry{e})[0], Level: string(level)})
	if err != nil {
		return "", err
	}
	return resp.GetText(), wire.Error(resp.GetFailure())
}
