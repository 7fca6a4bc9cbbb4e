package server

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// method is one row of the table: how to call it, and what discover says.
type method struct {
	doc            string
	role           rpc.Role // that a connection needs to call it at all
	fields         []field
	params, result reflect.Type
	call           func(ctx context.Context, c *conn, name string, params json.RawMessage) (any, error)
}

// field is one parameter of a method.
type field struct {
	index    []int // in the struct; more than one where a struct is embedded
	name     string
	required bool
	access   string // its class, such as rpc.AccessFree
}

// table is every method there is, with the role that it needs. Nothing is
// registered anywhere else. Which parameters need more, their types say in
// package rpc.
func (s *Server) table() map[string]method {
	return map[string]method{
		rpc.MethodHello:    of(rpc.RoleObserve, "Introduces the client, and with a token gives the connection its role; fails when the major protocol numbers differ.", s.hello),
		rpc.MethodPing:     of(rpc.RoleObserve, "Answers with an empty object.", s.ping),
		rpc.MethodDiscover: of(rpc.RoleObserve, "This catalogue.", s.discover),
		rpc.MethodStatus:   of(rpc.RoleObserve, "How the daemon is: version, plugins, work, problems.", caughtUp(s.status)),
		rpc.MethodStop:     of(rpc.RoleAdmin, "Asks the daemon to drain and end, or to end now; answers before it does.", s.stop),

		rpc.MethodInit: of(rpc.RoleSubmit, "Makes a project that of the connection: later requests that name none are about it, and notifications of its runs are sent.", begins(lasting(s.initProject))),

		rpc.MethodAsk:         of(rpc.RoleSubmit, "Queues a prompt that may read and not change anything. Answers at once; follow the journal behind seq.", begins(caughtUp(s.ask))),
		rpc.MethodAct:         of(rpc.RoleSubmit, "Queues a prompt. Answers at once; follow the journal behind seq.", begins(caughtUp(s.act))),
		rpc.MethodStartRun:    of(rpc.RoleSubmit, "Makes a run without a prompt.", begins(caughtUp(s.startRun))),
		rpc.MethodAbort:       of(rpc.RoleSubmit, "Ends the loop that the run works on. Prompts that wait go on after it, or are held.", onRun(s, s.abort)),
		rpc.MethodRelease:     of(rpc.RoleSubmit, "Lets the prompts go on that run/abort held.", begins(onRun(s, s.release))),
		rpc.MethodPrompts:     of(rpc.RoleObserve, "The prompts of a run, newest first, with what the work on each came to and the files that it changed.", onRun(s, s.prompts)),
		rpc.MethodPromptFiles: of(rpc.RoleObserve, "The files that the work on one prompt changed, as its tools told; run/changes compares them with the disk.", onRun(s, s.promptFiles)),
		rpc.MethodCassette:    of(rpc.RoleObserve, "A piece of the cassette of a prompt that was given with record and has ended.", onRun(s, s.cassette)),
		rpc.MethodTakeBack:    of(rpc.RoleSubmit, "Takes a prompt out of the queue of its run, when no work on it has begun, and answers with its text.", onRun(s, s.takeBack)),
		rpc.MethodResume:      of(rpc.RoleSubmit, "Goes on with a run whose last loop was cut short, as a new loop. Answers at once.", begins(onRun(s, s.resume))),
		rpc.MethodCompact:     of(rpc.RoleSubmit, "Has the run's model summarize what was said in the run, as a new loop; what the summary stands for is archived. Answers at once.", begins(onRun(s, s.compact))),
		rpc.MethodFork:        of(rpc.RoleSubmit, "Makes a run that begins with what another one knew after a turn.", begins(onRun(s, s.fork))),
		rpc.MethodChanges:     of(rpc.RoleObserve, "What a run, or a part of it, changed in the project's files, against how they were before.", onRun(s, s.changes)),
		rpc.MethodPacket:      of(rpc.RoleObserve, "What the model was sent in a turn, rendered from the journal, and whether that is what was sent.", onRunOf(s, s.packet)),
		rpc.MethodUndo:        of(rpc.RoleSubmit, "Takes back what a run, or a part of it, changed in the project's files, when nothing else touched it.", onRun(s, s.undo)),
		rpc.MethodRedo:        of(rpc.RoleSubmit, "Makes again what the last run/undo took back, when nothing touched it since.", onRun(s, s.redo)),
		rpc.MethodReset:       of(rpc.RoleSubmit, "Drops the run's sandbox and its home; what it knows stays.", onRun(s, s.reset)),
		rpc.MethodLeave:       of(rpc.RoleSubmit, "Says that nobody goes on with a run, so that it rests, at once or when its work is over. A prompt goes on with it all the same.", onRun(s, s.leave)),
		rpc.MethodDelete:      of(rpc.RoleSubmit, "Deletes a run for good, with all it knows; forks keep what they see.", onRun(s, s.delete)),
		rpc.MethodRename:      of(rpc.RoleSubmit, "Gives a run another alias.", onRun(s, s.rename)),
		rpc.MethodInject:      of(rpc.RoleSubmit, "Queues a prompt in a run that is there, as its last one was given (ask or act). Answers at once.", begins(caughtUp(s.inject))),
		rpc.MethodRunConfig:   of(rpc.RoleSubmit, "Changes a run's model and what it has of its own, from its next prompt on, and tells what is in force.", onRun(s, s.configure)),

		rpc.MethodSet:      of(rpc.RoleSubmit, "Creates or changes an entry of a run, or all that a pattern fits. Of run://ALIAS a body is a prompt, attributes alone make or configure the run, the state cancelled ends its work.", begins(onEntry(s, setCall))),
		rpc.MethodGet:      of(rpc.RoleSubmit, "Makes entries of a run visible to its model, and answers with them. Of run://ALIAS, or a pattern of such, it only reads.", begins(s.keeping(onEntry(s, getCall)))),
		rpc.MethodRemove:   of(rpc.RoleSubmit, "Takes entries out of a run's view.", begins(onEntry(s, removeCall))),
		rpc.MethodCopy:     of(rpc.RoleSubmit, "Copies an entry of a run to another path.", begins(onEntry(s, moveCall(sdk.VerbCopy)))),
		rpc.MethodMove:     of(rpc.RoleSubmit, "Gives an entry of a run another path, and a run (run://ALIAS) another alias.", begins(onEntry(s, moveCall(sdk.VerbMove)))),
		rpc.MethodProgress: of(rpc.RoleSubmit, "Notes how far the work of a run has come, for its model and for people.", begins(onRunOf(s, s.progress))),

		rpc.MethodStream:          of(rpc.RoleSubmit, "Takes a piece of what a command printed that this connection accepted by run/resolve, and runs. Calls of stream are done in the order in which they come.", streaming(s, s.stream)),
		rpc.MethodStreamCompleted: of(rpc.RoleSubmit, "Ends such a command, by its exit status.", streaming(s, s.streamCompleted)),
		rpc.MethodStreamAborted:   of(rpc.RoleSubmit, "Ends such a command, which the client ended.", streaming(s, s.streamAborted)),
		rpc.MethodStreamCancel:    of(rpc.RoleSubmit, "Ends a command of sh or env, whoever runs it; a client that does is told by stream/cancelled.", streaming(s, s.streamCancel)),

		rpc.MethodStore: of(rpc.RoleSubmit, "Says what a project makes of some of its files (persist, ignore, clear), and takes them out of the sight of a run.", begins(s.store)),

		rpc.MethodLend:   of(rpc.RoleApprove, "Lends servers of MCP and a front end's unsaved texts to a run, until the connection closes.", begins(lasting(s.lend))),
		rpc.MethodBuffer: of(rpc.RoleApprove, "Answers buffer/wanted, which was sent over this connection.", lasting(s.giveBuffer)),

		rpc.MethodRuns:    of(rpc.RoleObserve, "Lists runs, newest first.", s.runs),
		rpc.MethodRun:     of(rpc.RoleObserve, "One run with its loops, turns, history and cost.", s.run),
		rpc.MethodEntries: of(rpc.RoleObserve, "The entries that a run sees, in the order of their first appearance, and behind them what it shares with others and does not see.", s.entries),

		rpc.MethodModels:      of(rpc.RoleObserve, "Lists the models that a prompt may name, and the one that is taken when it names none.", caughtUp(s.models)),
		rpc.MethodPull:        of(rpc.RoleAdmin, "Has a provider get a model onto its server, and sends models/progress. Answers when it can be used; closing the connection gives it up.", s.pull),
		rpc.MethodAddModel:    of(rpc.RoleAdmin, "Writes a model block into the user's configuration and puts it in force.", s.addModel),
		rpc.MethodRemoveModel: of(rpc.RoleAdmin, "Takes a model block out of the user's configuration and puts that in force.", s.removeModel),

		rpc.MethodAgents: of(rpc.RoleObserve, "Lists the agents that a prompt may name, and what each may do.", caughtUp(s.agents)),
		rpc.MethodAgent:  of(rpc.RoleObserve, "One agent whole, with where each attribute comes from and whom it goes before.", caughtUp(s.agent)),
		rpc.MethodFiles:  of(rpc.RoleObserve, "Finds files of a project by a query, the best first: none that may hold secrets, none that git ignores, no links.", s.files),
		rpc.MethodFile:   of(rpc.RoleObserve, "Reads a text file of a project, or a range of its lines, as a prompt with it as an attachment would have it.", s.file),

		rpc.MethodTree:        of(rpc.RoleObserve, "Lists the files of a project that are entries, as the last scan found them.", s.tree),
		rpc.MethodScan:        of(rpc.RoleSubmit, "Makes the files of a project entries, and those that are what the disk has.", begins(s.scan)),
		rpc.MethodConstraints: of(rpc.RoleObserve, "Lists what a project says of its files: which are entries, and which no run writes.", s.constraints),
		rpc.MethodConstrain:   of(rpc.RoleApprove, "Says of files of a project that they are entries, that no run writes them or that they are none, or takes that away.", begins(s.constrain)),

		rpc.MethodTools:       of(rpc.RoleObserve, "Lists the tools that are there now.", caughtUp(s.tools)),
		rpc.MethodCallTool:    of(rpc.RoleSubmit, "Calls one tool, judged and recorded like a model's call. Closing the connection cancels it, and so does tools/cancel.", begins(caughtUp(s.callTool))),
		rpc.MethodCancelCall:  of(rpc.RoleSubmit, "Ends a call of tools/call that is under way, whoever made it. Answers at once.", onRun(s, s.cancelCall)),
		rpc.MethodPlugins:     of(rpc.RoleObserve, "Lists plugins and their state.", caughtUp(s.plugins)),
		rpc.MethodPluginLoad:  of(rpc.RoleAdmin, "Loads one plugin anew from its file and its block, when either changed or with force, and says how.", caughtUp(s.reloadPlugin)),
		rpc.MethodPluginDev:   of(rpc.RoleAdmin, "Uses a plugin's process that its author runs, and sends plugins/attached. Answers when that has gone; closing the connection gives it up.", lasting(s.devPlugin)),
		rpc.MethodShowConfig:  of(rpc.RoleObserve, "Lists every setting in force with where it comes from.", s.showConfig),
		rpc.MethodCheckConfig: of(rpc.RoleSubmit, "What is wrong with the configuration as its files are now, and with the own file of a project. Puts nothing in force.", s.checkConfig),
		rpc.MethodMistakes:    of(rpc.RoleObserve, "Lists what of the configuration, and of a project's own file, is wrong and so not in force.", s.mistakes),
		rpc.MethodReload:      of(rpc.RoleAdmin, "Reads the configuration again and puts what changed in force, or says what is wrong with it.", s.reload),

		rpc.MethodSkills:       of(rpc.RoleObserve, "Lists skills, whatever their status, and the folders they are looked for in.", inFolder(rpc.MethodSkills, s.skills)),
		rpc.MethodSkill:        of(rpc.RoleObserve, "One skill with its body and the files of its folder.", inFolder(rpc.MethodSkill, s.cfg.Skills.Skill)),
		rpc.MethodSkillExplain: of(rpc.RoleObserve, "Why a skill is in the prompt of an agent, or is not.", inFolder(rpc.MethodSkillExplain, s.cfg.Skills.Explain)),
		rpc.MethodSkillMatch:   of(rpc.RoleObserve, "Which skills fit a text, best first.", inFolder(rpc.MethodSkillMatch, s.cfg.Skills.Match)),
		rpc.MethodSkillEnable:  of(rpc.RoleAdmin, "Turns a skill on or off by its block in the user's configuration.", inFolder(rpc.MethodSkillEnable, s.cfg.Skills.Enable)),
		rpc.MethodSkillCreate:  of(rpc.RoleAdmin, "Makes a skill in the user's folder.", s.createSkill),
		rpc.MethodTrust:        of(rpc.RoleObserve, "Shows what the skills of a workspace are and what its files tell agents, and takes the answer to it.", s.trust),

		rpc.MethodProposals:  of(rpc.RoleObserve, "Lists what waits for a person.", s.proposals),
		rpc.MethodProposal:   of(rpc.RoleObserve, "One proposal, whole: what exactly would run, and what an answer is bound to.", s.proposal),
		rpc.MethodResolve:    of(rpc.RoleApprove, "Answers a proposal: accept, reject or edit. Answers when that is durable.", begins(s.resolve)),
		rpc.MethodRunResolve: of(rpc.RoleApprove, "Answers what a run proposes by the path of its entry, as it was last sent over this connection. Answers when that is durable.", begins(lasting(s.resolveRun))),
		rpc.MethodTicket:     of(rpc.RoleSubmit, "For a channel: the message that tells people what a run proposes, with what would run whole, and the ticket of one answer to it.", s.ticket),
		rpc.MethodAnswer:     of(rpc.RoleSubmit, "For a channel: answers a proposal for a person who may, once, by a ticket: accept or reject. Answers when that is durable.", begins(s.answer)),
		rpc.MethodRules:      of(rpc.RoleObserve, "Lists the rules in force beside the built-in ones.", s.rules),
		rpc.MethodForget:     of(rpc.RoleApprove, "Removes a rule that was remembered from an answer.", begins(s.forgetRule)),
		rpc.MethodExplain:    of(rpc.RoleObserve, "Why an action ran, waited or was refused.", s.explain),

		rpc.MethodAudit:       of(rpc.RoleObserve, "A page of the audit: every action, refused ones included, and security events.", s.audit),
		rpc.MethodAuditVerify: of(rpc.RoleObserve, "Checks the journal's chain from its first row.", s.auditVerify),

		rpc.MethodUsage: of(rpc.RoleObserve, "What completions used and cost, by day, project, run or model, also those of deleted runs.", s.usage),

		rpc.MethodLogin:  of(rpc.RoleAdmin, "Keeps a key that the configuration asks for, in the keyring or in a file, and restarts what uses it.", s.login),
		rpc.MethodLogout: of(rpc.RoleAdmin, "Removes a key from wherever it is kept, and restarts what used it.", s.logout),
		rpc.MethodKeys:   of(rpc.RoleAdmin, "Lists the keys that the configuration asks for and where they are, never their values.", s.keys),
		rpc.MethodGive:   of(rpc.RoleSubmit, "Takes keys that the daemon lacks, as the answer to hello names them, until it ends.", s.give),

		rpc.MethodBackup: of(rpc.RoleAdmin, "Writes a verified copy of the database to a file. Closing the connection gives it up.", s.backup),

		rpc.MethodWorkspaceWrite: of(rpc.RoleSubmit, "Puts a piece of a file into the folder of a private run.", begins(onRun(s, s.writeWorkspace))),
		rpc.MethodWorkspaceRead:  of(rpc.RoleObserve, "A piece of a file in the folder of a private run.", onRun(s, s.readWorkspace)),

		rpc.MethodPeople:       of(rpc.RoleObserve, "Lists those whose prompts channels may bring, and says whether a code of channels/pair is waited for.", caughtUp(s.people)),
		rpc.MethodAddPerson:    of(rpc.RoleAdmin, "Writes a person block into the user's configuration and puts it in force.", s.addPerson),
		rpc.MethodRemovePerson: of(rpc.RoleAdmin, "Takes a person block out of the user's configuration and puts that in force.", s.removePerson),
		rpc.MethodLearning:     of(rpc.RoleAdmin, "Says in the user's configuration of whom, of which agent or in which project the memory learns, and puts that in force.", s.setLearning),
		rpc.MethodPair:         of(rpc.RoleAdmin, "Sends channels/code with a code for a channel, and answers with who sent that there. Closing the connection gives it up.", lasting(s.pair)),
		rpc.MethodClaim:        of(rpc.RoleSubmit, "Takes a code of channels/pair from a channel, with who sent it. Five wrong ones end the waiting.", s.claim),

		rpc.MethodJournal: of(rpc.RoleObserve, "A page of the journal.", s.journal),
		rpc.MethodWatch:   of(rpc.RoleObserve, "Sends journal/row for every committed row behind a position, from now on.", lasting(s.startWatch)),
		rpc.MethodUnwatch: of(rpc.RoleObserve, "Ends a watch.", s.endWatch),
	}
}

// of makes a row from a handler: it checks the connection's role, decodes the
// parameters into P, and holds a channel to its projects.
func of[P, R any](role rpc.Role, doc string, handle func(context.Context, *conn, P) (R, error)) method {
	fields := fieldsOf(reflect.TypeFor[P]())
	return method{
		doc: doc, role: role, fields: fields, params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		call: func(ctx context.Context, c *conn, name string, raw json.RawMessage) (any, error) {
			if err := c.open(name, role); err != nil {
				return nil, err
			}
			if err := c.permit(role, name); err != nil {
				return nil, err
			}
			var p P
			root := c.at(ctx).Root
			if err := decodeParams(name, raw, fields, &p, root != ""); err != nil {
				return nil, err
			}
			params{fields, reflect.ValueOf(&p).Elem()}.fill(root)
			if by := widened(fields, reflect.ValueOf(p)); by != "" {
				if err := c.permit(rpc.RoleApprove, name+" with "+by); err != nil {
					return nil, err
				}
			}
			if err := c.ofOwner(ctx, name, params{fields, reflect.ValueOf(&p).Elem()}); err != nil {
				return nil, err
			}
			if err := c.confine(ctx, name, params{fields, reflect.ValueOf(&p).Elem()}); err != nil {
				return nil, err
			}
			return handle(ctx, c, p)
		},
	}
}

// begins is the handler of a call that begins something, which a daemon that stops
// does not. The code says that nothing was done: a client may call again, and then
// starts the next daemon.
func begins[P, R any](handle func(context.Context, *conn, P) (R, error)) func(context.Context, *conn, P) (R, error) {
	return func(ctx context.Context, c *conn, p P) (R, error) {
		if c.s.stopping.Load() {
			var none R
			return none, rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, "the daemon is stopping: try again when it has ended")
		}
		return handle(ctx, c, p)
	}
}

// caughtUp is the handler of a call that is about what the configuration says: who saved that just
// before sees it. A channel does not wait, for it may be what a change that is taken up waits for.
func caughtUp[P, R any](handle func(context.Context, *conn, P) (R, error)) func(context.Context, *conn, P) (R, error) {
	return func(ctx context.Context, c *conn, p P) (R, error) {
		if c.grant == nil {
			c.s.cfg.Daemon.CatchUp(ctx)
		}
		return handle(ctx, c, p)
	}
}

// fieldsOf lists a parameter struct's fields as JSON names them, those of structs that
// are embedded in it like its own. One without omitempty or omitzero is required.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, at := range reflect.VisibleFields(t) {
		if at.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(at.Tag.Get("json"), ",")
		if name == "-" {
			continue // the daemon sets it
		}
		fields = append(fields, field{index: at.Index, name: name, required: !strings.Contains(options, "omit"), access: at.Tag.Get("access")})
	}
	return fields
}
