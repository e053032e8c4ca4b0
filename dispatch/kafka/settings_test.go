package kafka

import (
	"errors"
	"strings"
	"testing"

	"vayu/internal/topic"
	"vayu/internal/topic/broker"
)

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*broker.Settings)
		wants  []string // that a fault must name
	}{
		"default":             {func(*broker.Settings) {}, nil},
		"every character":     {func(s *broker.Settings) { s.Topic = "aZ09._-" }, nil},
		"no topic":            {func(s *broker.Settings) { s.Topic = "" }, []string{"topic"}},
		"dot":                 {func(s *broker.Settings) { s.Topic = "." }, []string{"topic"}},
		"dots":                {func(s *broker.Settings) { s.DeadTopic = ".." }, []string{"dead-topic"}},
		"space":               {func(s *broker.Settings) { s.Topic = "a b" }, []string{"topic"}},
		"long":                {func(s *broker.Settings) { s.Topic = strings.Repeat("t", 250) }, []string{"topic"}},
		"the same":            {func(s *broker.Settings) { s.DeadTopic = s.Topic }, []string{"dead-topic"}},
		"no group":            {func(s *broker.Settings) { s.Group = "" }, []string{"group"}},
		"none of them":        {func(s *broker.Settings) { s.Partitions, s.Replicas = 0, 0 }, []string{"partitions", "replicas"}},
		"too many partitions": {func(s *broker.Settings) { s.Partitions = 1001 }, []string{"partitions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := broker.DefaultSettings()
			c.change(&s)
			got := errors.Join(s.Validate()...)
			for _, want := range c.wants {
				if got == nil || !strings.Contains(got.Error(), want+": ") {
					t.Errorf("got %v, want a fault of %s", got, want)
				}
			}
			if (got == nil) != (c.wants == nil) || len(s.Validate()) != len(c.wants) {
				t.Errorf("got %v, want faults of %v", got, c.wants)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := topic.Config{Settings: broker.DefaultSettings(), Brokers: []string{"kafka:9092"}}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]topic.Config{
		"no brokers":  {Settings: good.Settings},
		"no port":     {Settings: good.Settings, Brokers: []string{"kafka"}},
		"no settings": {Brokers: good.Brokers},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: New took it", name)
		}
	}
}
