package rpc

// The methods a client may call.
const (
	MethodHello    = "hello"
	MethodPing     = "ping"
	MethodDiscover = "discover"
	MethodStatus   = "status"
	MethodStop     = "stop"

	MethodAsk      = "ask"
	MethodAct      = "act"
	MethodStartRun = "startRun"
	MethodAbort    = "run/abort"

	MethodRuns    = "getRuns"
	MethodRun     = "getRun"
	MethodEntries = "getEntries"
	MethodModels  = "getModels"

	MethodTools      = "tools/list"
	MethodCallTool   = "tools/call"
	MethodPlugins    = "plugins/list"
	MethodShowConfig = "config/show"

	MethodBackup = "store/backup"

	MethodWatch   = "journal/watch"
	MethodUnwatch = "journal/unwatch"
)

// The notifications the daemon sends. MethodHello is one too: it greets.
const (
	NoteRow     = "journal/row"
	NoteGap     = "journal/gap"
	NotePreview = "run/preview"

	NoteBackup = "store/progress"
)
