package sandbox

// environment is the whole environment of a command that starts in dir, but for
// SHLVL and _, which bash sets. Caches and temporary files lie in the home, which
// is on disk; /tmp is small. There is no LANG: reading a locale costs each bash a
// tenth of its start, and what needs UTF-8 assumes it.
func environment(path, dir string, network bool) []string {
	env := append([]string{
		"PATH=" + path, "HOME=" + Home, "TMPDIR=" + Home + "/tmp", "PWD=" + dir,
		"XDG_CACHE_HOME=" + Home + "/.cache", "GOCACHE=" + Home + "/.cache/go-build",
	}, gitEmptied...)
	if !network {
		env = append(env, offline...)
	}
	return env
}

// offline has programs that get packages look into their caches alone. Without it they
// try to reach their servers, some for a minute, or do not take what a cache has.
var offline = []string{
	"GOPROXY=off", "CARGO_NET_OFFLINE=true", "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false",
	"PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "UV_OFFLINE=1", "YARN_ENABLE_NETWORK=0", "MAVEN_ARGS=--offline",
}

// gitEmptied empty what makes git run a repository's monitor of files and its
// hooks. They go before every file of settings. Programs that settings name
// under names of their own (filter.NAME.clean, diff.NAME.textconv) cannot be
// emptied so, and run, where every command runs: policy knows it.
// safe.directory is left alone: what belongs to another user is refused as it
// would be outside. A folder that only looks like a repository is taken for one
// no more: anybody who writes files could make one, with settings that name
// programs.
var gitEmptied = []string{
	"GIT_CONFIG_COUNT=3",
	"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=",
	"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=",
	"GIT_CONFIG_KEY_2=safe.bareRepository", "GIT_CONFIG_VALUE_2=explicit",
}

// imagePath is the PATH in an image of somebody else's, where the caller's
// entries mean nothing.
const imagePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
