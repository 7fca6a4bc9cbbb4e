package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// scenario is a way past some failpoints.
type scenario struct {
	points []failpoint.Name
	first  []failpoint.Name // where earlier daemons die, so that there is something to recover from
	fresh  bool             // the database must not be there yet

	act   func(*visitor, *job) error // goes as far as one daemon lets it; called again with the next
	check func(*visitor, *job)       // when all is over
}

func scenarios() []scenario {
	return []scenario{
		{act: actPrompt, points: []failpoint.Name{
			failpoint.EnqueueAfter, failpoint.ClaimAfter, failpoint.OpenBefore, failpoint.OpenAfter, failpoint.AnswerUnwritten, failpoint.RecordAfter,
			failpoint.EffectBefore, failpoint.EffectAfter, failpoint.StepAfter, failpoint.VerdictBefore, failpoint.FinishBefore, failpoint.FinishAfter,
			failpoint.StoreBefore, failpoint.StoreAfter,
		}},
		{act: actCallingSkill, points: []failpoint.Name{failpoint.ChildRecorded, failpoint.ChildEnded}},
		{act: actDelegation, points: []failpoint.Name{failpoint.DelegateAfter, failpoint.DelegateEnded}},
		{act: actDeletionOf(), check: checkDeletion, points: []failpoint.Name{failpoint.DeleteBefore, failpoint.DeleteAfter}},
		{act: actRest, check: checkRest, points: []failpoint.Name{failpoint.RestBefore, failpoint.RestAfter, failpoint.RestTelling, failpoint.RestTold}},
		{act: actCram, check: checkCram, points: []failpoint.Name{failpoint.DemoteBefore, failpoint.DemoteAfter, failpoint.SettleBefore}},
		{act: actScan, points: []failpoint.Name{failpoint.ScanAfter}},
		{act: actSlowPrompt, points: []failpoint.Name{failpoint.StreamPartial}},
		{act: actPrompt, first: []failpoint.Name{failpoint.EffectAfter}, points: []failpoint.Name{
			failpoint.RecoverBegin, failpoint.RecoverSettled, failpoint.RecoverRecorded, failpoint.RecoverResume,
		}},
		{act: actProposal, check: checkProposals, points: []failpoint.Name{failpoint.ProposedAfter, failpoint.AnswerBefore, failpoint.ApprovedAfter}},
		{act: actRejection, check: checkProposals, points: []failpoint.Name{failpoint.AnsweredAfter}},
		{act: actCall, check: checkCalls, points: []failpoint.Name{failpoint.CallAfter}},
		{act: actPrompt, fresh: true, points: []failpoint.Name{failpoint.MigrateBefore, failpoint.MigrateAfter}},
		{act: actVerbs("note_entry"), check: checkVerbs, points: []failpoint.Name{failpoint.VerbPlanned, failpoint.VerbWritten}},
		{act: actBackup, check: checkBackup, points: []failpoint.Name{failpoint.BackupCopied, failpoint.BackupVerified, failpoint.BackupRenamed}},
	}
}

// actPrompt gives a prompt, unless it is there, and waits for its end.
func actPrompt(v *visitor, j *job) error {
	return v.prompt(j, plan{Tag: j.tag, Steps: 2, Tools: []string{"note_line", codeSkill, textSkill}, Twice: true})
}

// actCallingSkill has a code skill call a tool.
func actCallingSkill(v *visitor, j *job) error {
	return v.prompt(j, plan{Tag: j.tag, Steps: 2, Tools: []string{callingSkill, "note_line"}, Twice: true})
}

// actScan gives a prompt in a project that has a file more.
func actScan(v *visitor, j *job) error {
	if err := os.WriteFile(filepath.Join(v.project, j.tag+".txt"), []byte(j.tag), 0o600); err != nil {
		return err
	}
	return v.prompt(j, plan{Tag: j.tag, Steps: 1, Tools: []string{"note_line"}})
}

func actSlowPrompt(v *visitor, j *job) error {
	return v.prompt(j, plan{Tag: j.tag, Steps: 1, Tools: []string{"note_line"}, Slow: 1})
}

func (v *visitor) prompt(j *job, p plan) error {
	ctx, cancel := actTime()
	defer cancel()
	j.plan = p
	if j.loop == 0 {
		if err := v.place(ctx, j); err != nil {
			return err
		}
	}
	for {
		d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(j.run, 10)})
		if err != nil {
			return err
		}
		v.history.detail(d)
		if l := d.Loops[len(d.Loops)-1]; !l.Ended.IsZero() {
			return nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// place finds the job's prompt, which an earlier daemon may have accepted
// without a word, or gives it.
func (v *visitor) place(ctx context.Context, j *job) error {
	d, err := v.client.Run(ctx, rpc.RunRef{Run: j.tag, Project: v.project})
	switch {
	case err == nil && len(d.Loops) > 0:
		j.run, j.loop = d.ID, d.Loops[0].ID
		return nil
	case err != nil && sdk.OutcomeOf(err) != sdk.NotFound:
		return err
	}
	a, err := v.client.Act(ctx, j.plan.asks(v.project, j.tag))
	if err != nil {
		return err
	}
	v.history.accepted(a, j.plan.prompt())
	j.run, j.loop = a.ID, a.Loop
	return nil
}

func (v *visitor) finishedJob(j *job) {
	v.t.Helper()
	ctx, cancel := actTime()
	defer cancel()
	a := rpc.Accepted{ID: j.run, Loop: j.loop}
	v.finished(j.plan, a)
	if err := v.followLoop(ctx, v.client, a, 0); err != nil { // the visits that follow must not lose it
		v.t.Error(err)
	}
}

// actCall calls a tool as a client does. A call whose answer was lost is not
// made again.
func actCall(v *visitor, j *job) error {
	ctx, cancel := actTime()
	defer cancel()
	arguments, err := json.Marshal(line{"call-" + j.tag})
	if err != nil || j.run != 0 {
		return err
	}
	j.run = -1
	done, err := v.client.CallTool(ctx, rpc.ToolCall{Project: v.project, Tool: "note_line", Arguments: arguments})
	if err != nil {
		return err
	}
	d, err := v.client.Run(ctx, rpc.RunRef{Run: done.Run, Project: v.project})
	if err != nil {
		return err
	}
	v.history.called(d.ID, done)
	return nil
}

func checkCalls(v *visitor, j *job) {
	v.t.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		d, err := v.client.Run(context.Background(), rpc.RunRef{Run: toolsRun, Project: v.project})
		if err != nil {
			v.t.Fatal(err)
		}
		if d.Turns[len(d.Turns)-1].Closed {
			v.actions(d.ID, "call-")
			return
		}
		if time.Now().After(deadline) {
			v.t.Fatalf("a client's call gets no end\n%s", v.evidence())
		}
	}
}

// toolsRun is the implicit run of calls that nobody made in a run of their own.
const toolsRun = "tools"

// actBackup makes a backup.
func actBackup(v *visitor, j *job) error {
	ctx, cancel := actTime()
	defer cancel()
	if _, err := os.Stat(v.backup(j)); err == nil {
		return nil // an earlier daemon has made it
	}
	if err := os.MkdirAll(filepath.Dir(v.backup(j)), 0o700); err != nil {
		return err
	}
	return v.client.Call(ctx, rpc.MethodBackup, rpc.BackupParams{File: v.backup(j)}, nil)
}

func (v *visitor) backup(j *job) string { return filepath.Join(v.root, "backup", j.tag+".db") }

// checkBackup holds that what bears the name is whole.
func checkBackup(v *visitor, j *job) {
	v.t.Helper()
	report, err := store.Inspect(context.Background(), v.backup(j))
	if err == nil {
		err = report.Whole()
	}
	if err != nil {
		v.t.Errorf("the backup is not whole: %v", err)
	}
}
