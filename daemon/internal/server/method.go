package server

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk/rpc"
)

// method is one row of the table: how to call it, and what discover says.
type method struct {
	doc            string
	params, result reflect.Type
	call           func(ctx context.Context, c *conn, name string, params json.RawMessage) (any, error)
}

// field is one parameter of a method.
type field struct {
	name     string
	required bool
}

// table is every method there is. Nothing is registered anywhere else.
func (s *Server) table() map[string]method {
	return map[string]method{
		rpc.MethodHello:    of("Introduces the client; fails when the major protocol numbers differ.", s.hello),
		rpc.MethodPing:     of("Answers with an empty object.", s.ping),
		rpc.MethodDiscover: of("This catalogue.", s.discover),
		rpc.MethodStatus:   of("How the daemon is: version, plugins, work, problems.", s.status),
		rpc.MethodStop:     of("Asks the daemon to drain and end, or to end now; answers before it does.", s.stop),

		rpc.MethodAsk:      of("Queues a prompt that may read and not change anything. Answers at once; follow the journal behind seq.", s.ask),
		rpc.MethodAct:      of("Queues a prompt. Answers at once; follow the journal behind seq.", s.act),
		rpc.MethodStartRun: of("Makes a run without a prompt.", s.startRun),
		rpc.MethodAbort:    of("Ends the loop that the run works on. Prompts that wait go on after it.", s.abort),
		rpc.MethodResume:   of("Goes on with a run whose last loop was cut short, as a new loop. Answers at once.", s.resume),
		rpc.MethodFork:     of("Makes a run that begins with what another one knew after a turn.", s.fork),
		rpc.MethodChanges:  of("What a run changed in the project's files, against how they were before.", s.changes),
		rpc.MethodUndo:     of("Takes back what a run changed in the project's files, when nothing else touched it.", s.undo),
		rpc.MethodReset:    of("Drops the run's sandbox and its home; what it knows stays.", s.reset),
		rpc.MethodDelete:   of("Deletes a run for good, with all it knows; forks keep what they see.", s.delete),
		rpc.MethodRename:   of("Gives a run another alias.", s.rename),

		rpc.MethodRuns:    of("Lists runs, newest first.", s.runs),
		rpc.MethodRun:     of("One run with its loops, turns, history and cost.", s.run),
		rpc.MethodEntries: of("The entries that a run sees, in the order of their first appearance.", s.entries),

		rpc.MethodModels:     of("Lists the models that a prompt may name, and the one that is taken when it names none.", s.models),
		rpc.MethodTools:      of("Lists the tools that are there now.", s.tools),
		rpc.MethodCallTool:   of("Calls one tool, judged and recorded like a model's call. Closing the connection cancels it.", s.callTool),
		rpc.MethodPlugins:    of("Lists plugins and their state.", s.plugins),
		rpc.MethodShowConfig: of("Lists every setting in force with where it comes from.", s.showConfig),
		rpc.MethodReload:     of("Reads the configuration again and puts what changed in force, or says what is wrong with it.", s.reload),

		rpc.MethodSkills:       of("Lists skills, whatever their status, and the folders they are looked for in.", s.skills),
		rpc.MethodSkill:        of("One skill with its body and the files of its folder.", s.skill),
		rpc.MethodSkillExplain: of("Why a skill is in the prompt of an agent, or is not.", s.explainSkill),
		rpc.MethodSkillMatch:   of("Which skills fit a text, best first.", s.matchSkills),
		rpc.MethodSkillEnable:  of("Turns a skill on or off by its block in the user's configuration.", s.enableSkill),
		rpc.MethodSkillCreate:  of("Makes a skill in the user's folder.", s.createSkill),
		rpc.MethodTrust:        of("Shows what the skills of a workspace are, and takes the answer to it.", s.trust),

		rpc.MethodProposals: of("Lists what waits for a person.", s.proposals),
		rpc.MethodProposal:  of("One proposal, whole: what exactly would run, and what an answer is bound to.", s.proposal),
		rpc.MethodResolve:   of("Answers a proposal: accept, reject or edit. Answers when that is durable.", s.resolve),
		rpc.MethodRules:     of("Lists the rules in force beside the built-in ones.", s.rules),
		rpc.MethodForget:    of("Removes a rule that was remembered from an answer.", s.forgetRule),
		rpc.MethodExplain:   of("Why an action ran, waited or was refused.", s.explain),

		rpc.MethodAudit:       of("A page of the audit: every action, refused ones included, and security events.", s.audit),
		rpc.MethodAuditVerify: of("Checks the journal's chain from its first row.", s.auditVerify),

		rpc.MethodBackup: of("Writes a verified copy of the database to a file. Closing the connection gives it up.", s.backup),

		rpc.MethodJournal: of("A page of the journal.", s.journal),
		rpc.MethodWatch:   of("Sends journal/row for every committed row behind a position, from now on.", s.startWatch),
		rpc.MethodUnwatch: of("Ends a watch.", s.endWatch),
	}
}

// of makes a row from a handler: it decodes the parameters into P.
func of[P, R any](doc string, handle func(context.Context, *conn, P) (R, error)) method {
	fields := fieldsOf(reflect.TypeFor[P]())
	return method{
		doc: doc, params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		call: func(ctx context.Context, c *conn, name string, raw json.RawMessage) (any, error) {
			var p P
			if err := decodeParams(name, raw, fields, &p); err != nil {
				return nil, err
			}
			return handle(ctx, c, p)
		},
	}
}

// fieldsOf lists a parameter struct's fields as JSON names them. One without
// omitempty is required.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields = append(fields, field{name: name, required: !strings.Contains(options, "omitempty")})
	}
	return fields
}
