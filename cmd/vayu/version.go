package main

import "runtime/debug"

// version returns the module version, the commit and the Go version of the build.
func version() string {
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
