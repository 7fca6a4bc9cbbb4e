package sdk

// Assembly is everything a view needs to render one turn. Entries are all of
// the run's, in the order of their first appearance.
type Assembly struct {
	Project      Project
	Run          Run
	Loop         Loop
	Turn         int // within the run
	Agent        Agent
	Model        string       // alias or provider/name: the name that calibration goes by
	Context      int          // the model's window in tokens; 0 is unknown
	Use          ContextUse   // how much of it prompts take
	Inputs       []string     // what the model takes (Model.Inputs); nil is unknown
	Tools        []Tool       // what the model is offered
	User         Instructions // the user's own
	Instructions Instructions // of the project, at its root
	Skills       string       // what the daemon's own tools say in the system text
	Entries      []Entry
}

// Fitting says what became of a prompt that had to fit.
type Fitting struct {
	Before  int // the estimate in tokens before anything was dropped
	After   int
	Groups  int // assistant messages that went, with the results behind them
	Prompts int // older prompts that went
	Cut     int // messages that were shortened in place

	// Writes are what the view took out of sight for that, and what tells of it: they are committed before the prompt is
	// sent, also where it does not fit all the same.
	Writes []Write
}
