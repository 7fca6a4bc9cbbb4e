package credential

import (
	"context"
	"errors"

	"github.com/bothyd/bothy/sdk"
)

// Logins are the logins among the keys, as the plugins that use them ask for them.
type Logins struct{ Keys *Keys }

// Login is what was kept.
func (l Logins) Login(_ context.Context, key string) (string, error) { return l.Keys.Find(key) }

// KeepLogin keeps a login that was renewed: the same one of the same person, and nothing else.
func (l Logins) KeepLogin(ctx context.Context, key, was, now string) error {
	before, _ := sdk.ParseLogin(was) // what is no login is none that is kept
	after, err := sdk.ParseLogin(now)
	if err == nil {
		err = errors.Join(check(now), after.Check()) // a server chooses what its tokens are
	}
	if err == nil && (after.ID != before.ID || after.Server != before.Server) {
		err = sdk.Errorf(sdk.Validation, "it is another login than the one that was renewed")
	}
	if err != nil {
		return err
	}
	return l.Keys.Renew(ctx, key, was, now)
}
