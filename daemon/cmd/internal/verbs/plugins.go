// Package verbs declares the flags and the help of the verbs that need no daemon.
// bothy parses and explains them, and bothyd, which bothy then runs, does the
// work: what one of the two accepts, so does the other.
package verbs

// PluginsLock writes bothy.lock, or compares it.
type PluginsLock struct {
	Check bool     `help:"Write nothing, and exit with 1 when something is not as it was locked."`
	Names []string `arg:"" optional:"" name:"name" complete:"plugin" help:"The labels of the blocks; all that are enabled when absent."`
}

// Help adds to the help of the verb.
func (PluginsLock) Help() string {
	return `Writes bothy.lock beside your configuration: for each plugin and provider the digest of its file, its version, its kinds, its tools by the hash of their schemas, its subscriptions, and the grants that it wants. It shows what that changes, line by line. A plugin that the lock names runs only as it was locked: when its file, or what it declares, is another, it is refused until you look and lock it again. A plugin that nothing pins yet is asked what it declares within walls.

After Bothy itself was upgraded, its own plugins are others, too.

Examples:

    bothy plugins lock --check
    bothy plugins lock
    bothy plugins lock websearch
`
}

// PluginsVerify compares the files of plugins with what pins them.
type PluginsVerify struct {
	Names []string `arg:"" optional:"" name:"name" complete:"plugin" help:"The labels of the blocks; all that are enabled, and the whole store, when absent."`
}

// Help adds to the help of the verb.
func (PluginsVerify) Help() string {
	return "Reads every file and compares its digest with sha256 in its block and with bothy.lock. Nothing runs. The exit code is 1 when a plugin would be refused."
}

// PluginsInstall copies a plugin into the store and configures it.
type PluginsInstall struct {
	Name       string   `placeholder:"NAME" help:"The label of its block; the plugin's own name when absent."`
	Grant      []string `placeholder:"GRANT" sep:"none" help:"Grant it this; may be given again. Nothing is granted by itself."`
	Set        []string `placeholder:"NAME=VALUE" sep:"none" help:"Write this into its block, an attribute that it declares; may be given again."`
	Network    bool     `help:"Open the network to it."`
	Paths      []string `name:"path" placeholder:"PATH" sep:"none" complete:"file" help:"Let it read and write below this folder, or this file; may be given again."`
	ReadPaths  []string `name:"read-path" placeholder:"PATH" sep:"none" complete:"file" help:"Let it read and execute there; may be given again."`
	BestEffort bool     `name:"best-effort" help:"Run it also where this kernel cannot hold it to all of that."`
	Unconfined bool     `help:"Hold it to nothing: it reads and writes what you may, your keys included."`
	NoConfig   bool     `name:"no-config" help:"Only copy it into the store, and print the block that it would get."`
	Yes        bool     `short:"y" help:"Do not ask."`
	Path       string   `arg:"" name:"path" complete:"file" help:"The plugin's binary or script, or the folder or archive of a bundle."`
}

// Help adds to the help of the verb.
func (PluginsInstall) Help() string {
	return `Copies the file into ~/.local/share/bothy/plugins, where it lies by its digest and is never written again, and asks the copy, within walls, what it declares. When you agree, its block goes into your configuration, pinned by its digest, and its entry into bothy.lock.

The kernel confines it: it has a folder of its own, the system's programs and libraries, and no network. What it says that it needs besides is shown, and you are asked for each; without a person only flags open anything. A plugin that is installed again keeps the confine block that it has.

An attribute that the plugin needs and has no default for must be given by --set. A value stands as it is; lists are separated by commas, and what is looked up when it is used is written secret("NAME"), env("NAME") or file("PATH").

Examples:

    bothy plugins install ./bothy-plugin-websearch
    bothy plugins install ./words-1.0.0.tar.gz
    bothy plugins install --name search --grant secrets --network --yes ./bothy-plugin-websearch
    bothy plugins install --set base_url=https://notes.example --set 'api_key=secret("NOTES_KEY")' ./bothy-plugin-notes
`
}

// PluginsPack makes the archive of a bundle.
type PluginsPack struct {
	To  string `placeholder:"FILE" complete:"file" help:"The archive to write; NAME-VERSION.tar.gz in the working directory when absent."`
	Dir string `arg:"" name:"dir" complete:"dir" help:"The folder with its bothy-plugin.hcl."`
}

// Help adds to the help of the verb.
func (PluginsPack) Help() string {
	return `Writes the files of a bundle into one archive, which bothy plugins install takes, and prints the digest that a pin of it has. Nothing runs. The same files make the same archive, byte for byte.

Examples:

    bothy plugins pack ./words
    bothy plugins pack --to /tmp/words.tar.gz ./words
`
}

// PluginsRemove takes a plugin out of the configuration, the lock and the store.
type PluginsRemove struct {
	Yes      bool   `short:"y" help:"Do not ask."`
	KeepHome bool   `name:"keep-home" help:"Leave the folder that it had as a confined plugin, with what it wrote there."`
	Name     string `arg:"" name:"name" complete:"plugin" help:"The label of its block."`
}

// Help adds to the help of the verb.
func (PluginsRemove) Help() string {
	return "Asks first. Takes its block out of your configuration, its entry out of bothy.lock, and its file, with all earlier versions of it, out of the store when nothing else uses them, and the folder that it had as a confined plugin. A plugin that comes with Bothy is switched off instead, unasked."
}

// PluginsInfo says what a plugin declares, wants and has.
type PluginsInfo struct {
	Name string `arg:"" name:"name" complete:"plugin" help:"The label of its block."`
}

// PluginsNew writes the beginning of a plugin.
type PluginsNew struct {
	Kind string `default:"tool" enum:"tool,provider,skill,hook,channel,agent" placeholder:"KIND" help:"tool, provider, skill, hook, channel or agent."`
	To   string `placeholder:"DIR" complete:"dir" help:"The folder to make; NAME in the working directory when absent."`
	SDK  string `name:"sdk" placeholder:"DIR" complete:"dir" help:"The checkout of Bothy to build with, instead of the one that this Bothy was built from, or of its version."`
	Lang string `default:"go" placeholder:"LANG" help:"go or python; for others there are documented examples."`
	Name string `arg:"" name:"name" help:"The NAME of bothy-plugin-NAME."`
}

// Help adds to the help of the verb.
func (PluginsNew) Help() string {
	return `Writes a Go module that builds, passes its tests and the test of the plugin protocol, and can be installed as it is; with --lang python a script with the package that it needs. Nothing is overwritten: a folder that holds anything is refused.

Examples:

    bothy plugins new hello && cd hello && go build && ./bothy-plugin-hello test
    bothy plugins new my-guard --kind hook
    bothy plugins new hello --lang python && bothy plugins test hello/bothy-plugin-hello
`
}

// PluginsTest says whether a plugin's binary keeps to the plugin protocol.
type PluginsTest struct {
	Call     bool     `help:"Call also what may have effects: tools that are not read-only, skills, models."`
	Settings string   `placeholder:"JSON" help:"Attributes of the plugin's block as a JSON object; the others take their defaults."`
	Env      []string `placeholder:"NAME=VALUE" sep:"none" help:"A variable of the plugin's env, as in its block; may be given again."`
	Seed     *uint64  `placeholder:"N" help:"Repeat a test: which requests look as if a later daemon sent them."`
	Path     string   `arg:"" name:"path" complete:"file" help:"The binary, or the folder of a bundle."`
	Args     []string `arg:"" optional:"" name:"args" help:"Arguments for the plugin itself, as args in its block."`
}

// Help adds to the help of the verb.
func (PluginsTest) Help() string {
	return `Starts the binary as the daemon does, in whatever language it was written, configures it with its defaults, and tries what the plugin protocol promises: a line for each promise, with what to do where it is broken. The exit code is 1 when one is. Now and then a request looks as if a later daemon had sent it; the seed that is printed repeats a test.

Tools are called only when they are declared read-only; --call calls the others too, executes skills and asks a model.

Examples:

    bothy plugins test ./bothy-plugin-hello
    bothy plugins test --json ./bothy-plugin-hello | jq '.findings[] | select(.severity == "failed")'
    bothy plugins test --settings '{"base_url": "http://127.0.0.1:8080"}' --call ./bothy-plugin-mine
`
}
