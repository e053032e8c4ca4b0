package ops

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/dispatch/devreceiver"
	"vayu/schema"
)

type listenRequest struct {
	port, answer int
	delay        time.Duration
	secrets      []string
	key, api     string
	events       []string
	noTest       bool
	brief        bool
}

// NewListen returns the command `vayu listen`.
func NewListen() *cobra.Command {
	var r listenRequest
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Receive webhooks on this machine, verify and print them",
		Long: `Receive webhooks on https://localhost:PORT, verify and print them.

With an API key it creates a subscription, sends it a test event, and deletes it at the end. It
also deletes one that was left on the same port. The key may be in ` + settings.KeyVariable + ` as well. Without
one, give the secret of the subscription. Requests that do not verify are answered with 400, as a
receiver should. The service must run with --webhook-local and the same --data, so that it
trusts the certificate and may send to this machine.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, _, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			c := r.config(cmd, loaded.Value)
			if c.Client == nil && (r.api != "" || len(r.events) > 0) {
				return errors.New("--api and --events need a new subscription: give --key or " + settings.KeyVariable)
			}
			l, err := devreceiver.New(c)
			if err != nil {
				return err
			}
			if err := tool.MakeData(loaded.Value.Data); err != nil {
				return err
			}
			return l.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.IntVar(&r.port, "port", 9443, "port of https://localhost, or 0 for any that is free")
	f.StringArrayVar(&r.secrets, "secret", nil, "secret of the subscription (repeatable, for a rotation)")
	f.IntVar(&r.answer, "answer", 200, "HTTP status of the answers, 200 to 599; if it is not set, requests that do not verify are answered with 400")
	f.DurationVar(&r.delay, "delay", 0, "how long each answer takes; the service waits for 5s")
	f.StringVar(&r.key, "key", "", "API key that creates the subscription (or "+settings.KeyVariable+")")
	f.StringVar(&r.api, "api", "", "address of the service (default that of the configuration)")
	f.StringSliceVar(&r.events, "events", nil, "types of events of the new subscription (default all but source.*)")
	f.BoolVar(&r.noTest, "no-test", false, "send no test event to the new subscription")
	f.BoolVar(&r.brief, "brief", false, "print a line for each delivery and no body")
	return cmd
}

func (r listenRequest) config(cmd *cobra.Command, cfg settings.Config) devreceiver.Config {
	c := devreceiver.Config{
		Data: cfg.Data, Port: r.port, Secrets: r.secrets, Answer: r.answer, Delay: r.delay,
		Strict: !cmd.Flags().Changed("answer"), Brief: r.brief,
		Out: cmd.OutOrStdout(), Now: time.Now,
	}
	client := devreceiver.Client{API: r.api, Key: r.key, KeyShown: r.key, Test: !r.noTest}
	if client.Key == "" {
		client.Key, client.KeyShown = os.Getenv(settings.KeyVariable), "$"+settings.KeyVariable
	}
	if client.Key == "" {
		return c
	}
	if client.API == "" {
		client.API = cfg.LocalURL()
	}
	for _, name := range r.events {
		client.Events = append(client.Events, schema.EventType(strings.TrimSpace(name)))
	}
	c.Client = &client
	return c
}
