// Package builtin holds the daemon's own tools: those that belong to no plugin.
// They are recorded, judged and dispatched like any other tool. There are
// use_skill, by which a model loads a skill (a person does the same by a prompt
// that begins with /name), open_network, by which it asks for the network, finish_task, by which it hands a result
// over, and the six verbs by which models, plugins and clients use entries (decision 88).
//
//	verbs         the plan that all uses of the verbs are; verb_set and its like are one verb each
//	verb_edit     what a model writes into the body of set
//	verb_tool     the verbs as tools of a model
//	builtin       the list of the tools, and what one turn has of them
//	use_skill     the tool, with the skills as one turn has them
//	skill         use_skill by another name and by path, of models that are taught their tools
//	skill_offered a skill that lies elsewhere, once a person trusted it
//	think         a call that is a thought and nothing else
//	open_network  the tool, and whether commands have the network
//	finish_task   the tool; what is handed over the engine judges
//	plan          the tool, and which agents have it
//	typed         a prompt that begins with /name
//	load          the run's copy of a skill, and its entry skill://NAME
//	fill          $ARGUMENTS and its like
package builtin
