package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// noScheme is a scheme of which no plugin says what it shows.
const noScheme = "x-no-such-scheme"

// projecting is how long a daemon waits for what a plugin shows of an entry.
const projecting = 2 * time.Second

// projections finds schemes that are projected and of which no entry is shown, or not to the plugin.
func projections(m sdk.Manifest) error {
	var errs []error
	for n, name := range m.Projections {
		at := slices.IndexFunc(m.Schemes, func(s sdk.Scheme) bool { return s.Name == name })
		switch {
		case at < 0:
			errs = append(errs, fmt.Errorf("projections names %q, which is no scheme of the plugin", name))
		case !m.Schemes[at].ModelVisible:
			errs = append(errs, fmt.Errorf("projections names %q, which is not model_visible: no model is shown its entries", name))
		case slices.Contains(m.Projections[:n], name):
			errs = append(errs, fmt.Errorf("projections names %q twice", name))
		}
	}
	if len(m.Projections) > 0 && !slices.Contains(m.Grants, sdk.GrantEntries) {
		errs = append(errs, fmt.Errorf("projections names %v, and the grant %q is not asked for", m.Projections, sdk.GrantEntries))
	}
	return errors.Join(errs...)
}

// projected has an entry of each scheme that is projected shown at both levels: in time, each time alike, and at the same
// time as others; one of another scheme is a failure. That an entry which nobody wrote fails is the plugin's own business.
func projected(ctx context.Context, s Subject) error {
	var errs []error
	if _, failure, err := shown(ctx, s, noScheme, sdk.Visible); err != nil || failure == nil {
		errs = append(errs, fmt.Errorf("an entry of a scheme that there is not was not refused by a failure (%v)", err))
	}
	for _, name := range s.Manifest.Projections {
		for _, level := range []sdk.Visibility{sdk.Visible, sdk.Summarized} {
			errs = append(errs, alike(ctx, s, name, level))
		}
	}
	return errors.Join(append(errs, alive(ctx, s))...)
}

func alike(ctx context.Context, s Subject, scheme string, level sdk.Visibility) error {
	once, failure, err := shown(ctx, s, scheme, level)
	if err != nil {
		return err
	}
	for _, err := range together(func() error {
		again, failed, err := shown(ctx, s, scheme, level)
		if err == nil && (again != once || (failed == nil) != (failure == nil)) {
			err = fmt.Errorf("two projections of the same entry of %s:// at the level %s differ", scheme, level)
		}
		return err
	}) {
		if err != nil {
			return fmt.Errorf("one of %d projections at the same time: %w", crowd, err)
		}
	}
	if failure != nil {
		return Warn("an entry of %s:// with a body of one word cannot be shown at the level %s: %s", scheme, level, failure.GetMessage())
	}
	return nil
}

func shown(ctx context.Context, s Subject, scheme string, level sdk.Visibility) (text string, failure *pb.Failure, err error) {
	err = within(ctx, "a projection of "+scheme+"://", projecting, func(ctx context.Context) error {
		resp, err := pb.NewPluginClient(s.Conn).Project(ctx, &pb.ProjectRequest{
			Entry: &pb.Entry{Path: scheme + "://conformance", Body: "conformance", Visibility: string(level), State: string(sdk.StateResolved)},
			Level: string(level),
		})
		text, failure = resp.GetText(), resp.GetFailure()
		switch {
		case err != nil:
			return fmt.Errorf("calling Project failed: %w", err)
		case failure != nil && failure.GetMessage() == "":
			return fmt.Errorf("the failure %q has no message", failure.GetOutcome())
		case failure != nil && text != "":
			return errors.New("the answer of Project has a failure and a text")
		}
		return nil
	})
	return text, failure, err
}
