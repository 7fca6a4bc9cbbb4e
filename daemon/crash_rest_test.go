package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/rpc"
)

// restsFile is where the ledger notes which rests it was told of, below the project.
const restsFile = "rests"

// noteRest appends what it was told, with the last prompt of the run, which it asks the daemon for.
func noteRest(ctx context.Context, rest sdk.Rest) error {
	prompt, err := host.From(ctx).Entry(ctx, fmt.Sprintf("prompt://%d", rest.To))
	if err != nil {
		return err
	}
	if prompt.Loop == 0 || prompt.Body == "" {
		return fmt.Errorf("the prompt %d of the run %s is empty", rest.To, rest.Run.Alias)
	}
	f, err := os.OpenFile(filepath.Join(rest.Project, restsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d-%d %s\n", rest.Run.Alias, rest.From, rest.To, rest.Why)
	return errors.Join(err, f.Close())
}

// actRest gives a prompt, leaves the run when it has ended, and waits until the ledger heard that it rests.
func actRest(v *visitor, j *job) error {
	if err := v.prompt(j, plan{Tag: j.tag, Steps: 1, Tools: []string{"note_line"}}); err != nil {
		return err
	}
	ctx, cancel := actTime()
	defer cancel()
	if _, err := v.client.Leave(ctx, rpc.RunRef{Run: j.tag, Project: v.project}); err != nil {
		return err
	}
	for {
		rows, err := v.restRows(ctx, j)
		if err != nil || rows[sdk.KindRestHeard] > 0 {
			return err
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// restRows counts the rows of a job's run that tell of rests.
func (v *visitor) restRows(ctx context.Context, j *job) (map[string]int, error) {
	var page rpc.JournalPage
	if err := v.client.Call(ctx, rpc.MethodJournal, rpc.JournalParams{Run: j.tag, Project: v.project, Limit: 1000}, &page); err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, row := range page.Rows {
		switch row.Kind {
		case sdk.KindRunRested, sdk.KindRestHeard:
			var data struct {
				To int `json:"to"`
			}
			if err := json.Unmarshal(row.Data, &data); err != nil {
				return nil, err
			}
			if data.To == 1 {
				count[row.Kind]++
			}
		}
	}
	return count, nil
}

// checkRest holds that a rest is on record once, and was told, no more often than daemons died on the way.
func checkRest(v *visitor, j *job) {
	v.t.Helper()
	rows, err := v.restRows(context.Background(), j)
	if err != nil || rows[sdk.KindRunRested] != 1 || rows[sdk.KindRestHeard] != 1 {
		v.t.Errorf("the run %s has the rows %v of its rest (%v)", j.tag, rows, err)
	}
	text, err := os.ReadFile(filepath.Join(v.project, restsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.t.Fatal(err)
	}
	if n := strings.Count(string(text), j.tag+" 1-1 left\n"); n < 1 || n > 3 {
		v.t.Errorf("the rest of %s was told %d times:\n%s", j.tag, n, text)
	}
}
