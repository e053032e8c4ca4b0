package main

import "runtime/debug"

// version is the module's version with the commit it was built from, as Go's
// linker recorded them.
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
