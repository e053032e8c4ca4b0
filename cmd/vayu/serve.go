package main

import (
	stdlog "log"
	"log/slog"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/wiring"
)

// settingsError is the error of serve if the settings cannot be loaded.
type settingsError struct{ error }

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service until it is stopped",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, log, err := settings.Load(cmd)
			if err != nil {
				return settingsError{err}
			}
			// Messages of net/http have level debug, because clients can cause any number of them.
			stdlog.SetOutput(slog.NewLogLogger(log.Handler(), slog.LevelDebug).Writer())
			stdlog.SetFlags(0)
			loaded.Value.WarnPlain(log)
			s, err := wiring.New(loaded.Value, log, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			return s.Run(cmd.Context())
		},
	}
	settings.Bind(cmd.Flags(), "roles", "listen", "internal-listen", "drain-delay", "insecure-http", "sources", "source-dir", "city-kinds", "pin-codes", "rate-limits", "proxies", "tls.cert", "tls.key", "tls.acme-domains", "tls.acme-email",
		"kafka", "webhook.allow", "webhook.ca", "webhook.local", "webhook.concurrency", "webhook.in-flight", "recharge.operators", "verify.banks", "public-url", "public", "signup.mode", "trace.endpoint", "trace.sample")
	return cmd
}
