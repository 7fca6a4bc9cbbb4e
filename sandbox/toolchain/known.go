package toolchain

import "strings"

// place is where one program that installs toolchains, one language or one cache keeps
// what projects are built with. Patterns are those of path.Match, below the home or
// absolute. A folder that has credentials beside what is needed is named by its parts.
type place struct {
	name string
	// shown is only read. bins, which lie in what is shown, have programs.
	shown, bins []string
	// newest are bins too, of which the one with the highest version counts.
	newest []string
	// caches are folders of packages.
	caches []string
}

var known = []place{
	{name: "asdf", shown: under(".asdf", "bin", "shims", "installs", "plugins", "lib", "libexec", "asdf.sh"), bins: []string{".asdf/shims", ".asdf/bin"}},
	{name: "bun", shown: []string{".bun/bin"}, bins: []string{".bun/bin"}, caches: []string{".bun/install/cache"}},
	{name: "cargo", shown: []string{".cargo/bin"}, bins: []string{".cargo/bin"}, caches: []string{".cargo/registry"}},
	{name: "deno", shown: []string{".deno/bin"}, bins: []string{".deno/bin"}, caches: under(".cache/deno", "deps", "remote", "npm", "gen")},
	{name: "fnm", shown: append(under(".local/share/fnm", "node-versions", "aliases"), under(".fnm", "node-versions", "aliases")...),
		bins: []string{".local/share/fnm/aliases/default/bin", ".fnm/aliases/default/bin"}},
	{name: "go", shown: []string{"go/bin", "sdk/go*"}, bins: []string{"go/bin"}, newest: []string{"sdk/go*/bin"}, caches: []string{"go/pkg/mod"}},
	{name: "gradle", caches: []string{".gradle/caches", ".gradle/wrapper"}},
	{name: "homebrew", shown: under("/home/linuxbrew/.linuxbrew", "bin", "sbin", "Cellar", "opt", "lib", "libexec", "include", "share"),
		bins: []string{"/home/linuxbrew/.linuxbrew/bin", "/home/linuxbrew/.linuxbrew/sbin"}},
	{name: "maven", caches: []string{".m2/repository", ".m2/wrapper"}},
	{name: "mise", shown: under(".local/share/mise", "installs", "shims"), bins: []string{".local/share/mise/shims"}},
	{name: "nix", shown: []string{"/nix/store"}, bins: []string{".nix-profile/bin"}},
	{name: "npm", shown: under(".npm-global", "bin", "lib"), bins: []string{".npm-global/bin"}, caches: []string{".npm/_cacache", ".cache/node/corepack"}},
	{name: "nvm", shown: under(".nvm", "versions", "alias"), newest: []string{".nvm/versions/node/*/bin"}},
	{name: "pip", shown: []string{".local/lib/python3*/site-packages"}, caches: []string{".cache/pip"}},
	{name: "pipx", shown: []string{".local/share/pipx/venvs", ".local/pipx/venvs"}},
	{name: "pnpm", caches: []string{".local/share/pnpm/store", ".cache/pnpm"}},
	{name: "pyenv", shown: under(".pyenv", "bin", "libexec", "shims", "versions", "plugins", "pyenv.d", "completions", "version"),
		bins: []string{".pyenv/shims", ".pyenv/bin"}},
	{name: "rustup", shown: under(".rustup", "toolchains", "settings.toml")},
	{name: "sdkman", shown: []string{".sdkman/candidates"}, bins: []string{".sdkman/candidates/*/current/bin"}},
	{name: "uv", shown: under(".local/share/uv", "python", "tools"), caches: []string{".cache/uv"}},
	{name: "volta", shown: under(".volta", "bin", "tools"), bins: []string{".volta/bin"}},
	{name: "yarn", caches: []string{".cache/yarn", ".yarn/berry/cache"}},
	{name: "programs of your own", shown: []string{".local/bin"}, bins: []string{".local/bin"}},
}

func under(dir string, names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, dir+"/"+name)
	}
	return all
}

// withheld are parts of what is shown that are not to be seen, whatever they hold: copies
// of repositories have the addresses in their configuration from which these came, with
// what those addresses hold.
var withheld = []string{"go/pkg/mod/cache/vcs", ".asdf/plugins/*/.git", ".pyenv/plugins/*/.git"}

// Withheld are the folders of a home that lie in a cache and are never to be seen, there or
// not.
func Withheld(home string) []string { return named(home, withheld) }

// Places are all files and folders below a home that could be shown, there or not, but for
// those whose names differ from one home to the next.
func Places(home string) (all []string) {
	for _, p := range known {
		all = append(append(all, named(home, p.shown)...), named(home, p.caches)...)
	}
	return all
}

// named are the patterns below a home that are names.
func named(home string, patterns []string) (all []string) {
	for _, pattern := range patterns {
		if !strings.HasPrefix(pattern, "/") && !strings.Contains(pattern, "*") {
			all = append(all, home+"/"+pattern)
		}
	}
	return all
}

// Beside are files and folders next to what is shown that have credentials, or settings
// which may: none of them is ever shown. Tests and the documentation hold it.
var Beside = []string{
	".asdf/.git", ".asdf/plugins/java/.git", ".pyenv/plugins/virtualenv/.git", ".cache/deno/location_data", ".cache/deno/deno_history.txt", ".asdf/keyrings", ".bun/install/global", ".bunfig.toml", ".cargo/credentials", ".cargo/credentials.toml", ".cargo/config.toml", ".cargo/git",
	".config/deno", ".config/fnm", ".config/go/env", ".config/mise", ".config/pip", ".config/uv", ".config/pypoetry", ".config/configstore", ".config/yarn",
	".deno/credentials", ".gradle/gradle.properties", ".gradle/init.d", ".gradle/daemon", ".m2/settings.xml", ".m2/settings-security.xml",
	".npm/_logs", ".npmrc", ".nvm/.npmrc", ".local/share/mise/trusted-configs", ".local/share/pnpm/auth.ini", ".local/share/uv/credentials",
	".local/share/keyrings", ".local/state", ".pypirc", ".pyenv/.git", ".rustup/credentials", ".sdkman/etc", ".sdkman/var", ".volta/hooks.json",
	".yarnrc.yml", ".yarnrc", ".cache/yarn-credentials", ".netrc", ".ssh", ".aws", ".docker", ".gnupg", ".config/gh", ".kube", ".azure", "go/src",
}
