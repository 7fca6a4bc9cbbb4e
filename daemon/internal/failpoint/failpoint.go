// Package failpoint names the moments at which a crash must lose nothing. In a
// build with the tag failpoints the process kills itself at the one that the
// environment names; in any other build a failpoint is nothing at all.
package failpoint

import "slices"

// Variable is the environment variable that names a failpoint: "NAME" kills the
// process the first time it comes there, "NAME:3" the third time. Only a build
// with the tag failpoints reads it.
const Variable = "BOTHY_FAILPOINT"

// Name is a moment on the way of a prompt, of a recovery or of the file itself.
// "Before" and "after" speak of the durable commit that the name is about.
type Name string

// The failpoints, in the order in which a prompt meets them.
const (
	EnqueueAfter    Name = "enqueue.after"    // the prompt is durable, nobody was told
	ClaimAfter      Name = "claim.after"      // the loop is running, nothing of it was done
	OpenBefore      Name = "open.before"      // a turn is about to be opened
	OpenAfter       Name = "open.after"       // the turn is open, the model was not asked
	DemoteBefore    Name = "demote.before"    // it is known what is taken out of sight so that the prompt fits, nothing of it is recorded
	DemoteAfter     Name = "demote.after"     // that is recorded, the model was not asked
	StreamPartial   Name = "stream.partial"   // a part of the answer has come
	AnswerUnwritten Name = "answer.unwritten" // the whole answer has come, nothing of it is recorded
	RecordAfter     Name = "record.after"     // answer and actions are recorded, the first is started
	ProposedAfter   Name = "proposed.after"   // an action waits for a person, nobody was told
	AnswerBefore    Name = "answer.before"    // a person's answer is about to be recorded
	AnsweredAfter   Name = "answered.after"   // a person's answer is durable, nobody was told
	ApprovedAfter   Name = "approved.after"   // a waiting action was approved and has not started
	EffectBefore    Name = "effect.before"    // the action is started, its tool was not called
	EffectAfter     Name = "effect.after"     // the tool has answered, its result is not recorded
	ChildRecorded   Name = "child.recorded"   // the call of a plugin that serves another is recorded as started
	ChildEnded      Name = "child.ended"      // what it came to is recorded, its plugin was not told
	DelegateAfter   Name = "delegate.after"   // a call that delegates is started and its child is there, which nobody works on
	DelegateEnded   Name = "delegate.ended"   // the child has ended, the end of the call is not recorded
	StepAfter       Name = "step.after"       // a result is recorded, with the start of the next action
	VerbPlanned     Name = "verb.planned"     // it is known what verbs on entries write, nothing of it is written
	VerbWritten     Name = "verb.written"     // what a plugin or a client had verbs write is durable, nobody was told
	VerdictBefore   Name = "verdict.before"   // all actions have their end, nothing was ruled
	SettleBefore    Name = "settle.before"    // it is known what the turn takes out of sight again, and the turn is not closed
	FinishBefore    Name = "finish.before"    // the end of the loop is about to be recorded
	FinishAfter     Name = "finish.after"     // the loop has ended, nobody was told
	ScanAfter       Name = "scan.after"       // some of the entries of a project's files are recorded
	DeleteBefore    Name = "delete.before"    // the folder of a run is marked, the run is in the store
	DeleteAfter     Name = "delete.after"     // a run is gone from the store, its folder is there
	RestBefore      Name = "rest.before"      // a run rests, which is about to be recorded
	RestAfter       Name = "rest.after"       // a run rests and plugins are owed the news, nobody was told
	RestTelling     Name = "rest.telling"     // a plugin is about to be told
	RestTold        Name = "rest.told"        // it has heard, which is not recorded
	CallAfter       Name = "call.after"       // a tool call of a client is recorded as started
	RecoverBegin    Name = "recover.begin"    // the store is open, nothing was taken up
	RecoverSettled  Name = "recover.settled"  // it is known what a begun action came to, it is not recorded
	RecoverRecorded Name = "recover.recorded" // what a begun action came to is recorded
	RecoverResume   Name = "recover.resume"   // a loop is about to go on
	StoreBefore     Name = "store.before"     // any transaction, before its commit
	StoreAfter      Name = "store.after"      // any transaction, after its commit
	MigrateBefore   Name = "migrate.before"   // a migration, before its commit
	MigrateAfter    Name = "migrate.after"    // a migration, after its commit
	BackupCopied    Name = "backup.copied"    // a backup is written under its temporary name
	BackupVerified  Name = "backup.verified"  // it is verified, and not renamed
	BackupRenamed   Name = "backup.renamed"   // it has its name
)

var names = []Name{
	EnqueueAfter, ClaimAfter, OpenBefore, OpenAfter, DemoteBefore, DemoteAfter, StreamPartial, AnswerUnwritten, RecordAfter, ProposedAfter, AnswerBefore, AnsweredAfter, ApprovedAfter,
	EffectBefore, EffectAfter, ChildRecorded, ChildEnded, DelegateAfter, DelegateEnded, StepAfter, VerbPlanned, VerbWritten, VerdictBefore, SettleBefore, FinishBefore, FinishAfter, ScanAfter, DeleteBefore, DeleteAfter, RestBefore, RestAfter, RestTelling, RestTold, CallAfter,
	RecoverBegin, RecoverSettled, RecoverRecorded, RecoverResume,
	StoreBefore, StoreAfter, MigrateBefore, MigrateAfter, BackupCopied, BackupVerified, BackupRenamed,
}

// Names are all failpoints, for tests that visit each.
func Names() []Name { return slices.Clone(names) }
