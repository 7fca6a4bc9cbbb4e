package rpc

// The methods a client may call.
const (
	MethodHello    = "hello"
	MethodPing     = "ping"
	MethodDiscover = "discover"
	MethodStatus   = "status"
	MethodStop     = "stop"
	MethodInit     = "init"

	MethodAsk         = "ask"
	MethodAct         = "act"
	MethodStartRun    = "startRun"
	MethodAbort       = "run/abort"
	MethodRelease     = "run/release"
	MethodPrompts     = "prompts/list"
	MethodPromptFiles = "prompts/files"
	MethodCassette    = "prompts/cassette"
	MethodTakeBack    = "prompts/take"
	MethodResume      = "run/resume"
	MethodCompact     = "run/compact"
	MethodFork        = "run/fork"
	MethodChanges     = "run/changes"
	MethodPacket      = "run/packet"
	MethodUndo        = "run/undo"
	MethodRedo        = "run/redo"
	MethodReset       = "run/reset"
	MethodLeave       = "run/leave"
	MethodDelete      = "run/delete"
	MethodRename      = "run/rename"
	MethodRunConfig   = "run/config"
	MethodInject      = "run/inject"
	MethodRunResolve  = "run/resolve"
	MethodLend        = "run/lend"
	MethodBuffer      = "buffer/give"

	MethodSet      = "set"
	MethodGet      = "get"
	MethodRemove   = "rm"
	MethodCopy     = "cp"
	MethodMove     = "mv"
	MethodProgress = "update"
	MethodStore    = "store"

	MethodStream          = "stream"
	MethodStreamCompleted = "stream/completed"
	MethodStreamAborted   = "stream/aborted"
	MethodStreamCancel    = "stream/cancel"

	MethodRuns    = "getRuns"
	MethodRun     = "getRun"
	MethodEntries = "getEntries"
	MethodModels  = "getModels"
	MethodPull    = "models/pull"

	MethodAddModel    = "addModel"
	MethodRemoveModel = "removeModel"

	MethodAgents = "agents/list"
	MethodAgent  = "agents/show"
	MethodFiles  = "project/files"
	MethodFile   = "project/read"

	MethodConstraints = "getConstraints"
	MethodConstrain   = "project/constrain"
	MethodScan        = "project/scan"
	MethodTree        = "project/tree"

	MethodTools       = "tools/list"
	MethodCallTool    = "tools/call"
	MethodCancelCall  = "tools/cancel"
	MethodPlugins     = "plugins/list"
	MethodPluginLoad  = "plugins/reload"
	MethodPluginDev   = "plugins/dev"
	MethodShowConfig  = "config/show"
	MethodCheckConfig = "config/check"
	MethodMistakes    = "config/mistakes"
	MethodReload      = "config/reload"

	MethodSkills       = "skills/list"
	MethodSkill        = "skills/info"
	MethodSkillExplain = "skills/explain"
	MethodSkillMatch   = "skills/match"
	MethodSkillEnable  = "skills/enable"
	MethodSkillCreate  = "skills/create"
	MethodTrust        = "skills/trust"

	MethodProposals = "proposals/list"
	MethodProposal  = "proposals/get"
	MethodResolve   = "proposals/resolve"
	MethodTicket    = "channel/ticket"
	MethodAnswer    = "channel/answer"
	MethodRules     = "rules/list"
	MethodForget    = "rules/remove"
	MethodExplain   = "policy/explain"

	MethodAudit       = "audit/list"
	MethodAuditVerify = "audit/verify"

	MethodUsage = "usage/list"

	MethodLogin  = "auth/login"
	MethodLogout = "auth/logout"
	MethodKeys   = "auth/list"
	MethodGive   = "auth/give"

	MethodBackup = "store/backup"

	MethodWorkspaceWrite = "workspace/write"
	MethodWorkspaceRead  = "workspace/read"

	MethodPeople       = "people/list"
	MethodAddPerson    = "people/add"
	MethodRemovePerson = "people/remove"
	MethodLearning     = "memory/learning"
	MethodPair         = "channels/pair"
	MethodClaim        = "channels/claim"

	MethodJournal = "journal/read"
	MethodWatch   = "journal/watch"
	MethodUnwatch = "journal/unwatch"
)

// The notifications the daemon sends. MethodHello is one too: it greets.
const (
	// NoteGreeting is the first message on a WebSocket, before the greeting of MethodHello.
	NoteGreeting = "rummy/hello"

	NoteRow     = "journal/row"
	NoteGap     = "journal/gap"
	NotePreview = "run/preview"

	// What a watch with states sends in place of rows.
	NoteState           = "run/state"
	NoteProgress        = "run/progress"
	NoteProposal        = "run/proposal"
	NoteStreamCancelled = "stream/cancelled"
	NoteRender          = "ui/render"
	NoteNotify          = "ui/notify"

	NoteBackup = "store/progress"

	NotePull = "models/progress"

	NoteAttached = "plugins/attached"

	NoteCode = "channels/code"

	NoteSkills = "skills/changed"

	// NoteTools says that tools came, went or changed: tools/list has those that are there.
	NoteTools = "tools/changed"

	NoteBuffer = "buffer/wanted"

	// NoteStopping says that the daemon stops in order: what it is working on
	// goes on at its next start. A connection that ends without it was lost.
	NoteStopping = "daemon/stopping"
)
