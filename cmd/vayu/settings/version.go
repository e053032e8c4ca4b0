package settings

import "runtime/debug"

// Version returns the module version, the commit and the Go version of the build.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit := "an unknown commit"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value
		}
	}
	return info.Main.Version + ", " + commit + ", " + info.GoVersion
}
