-- +goose Up

-- The newest publication of air that was evaluated. Changes that were computed from an older one are refused.
ALTER TABLE alert_evaluation ADD COLUMN rolled_up_at BIGINT NOT NULL DEFAULT 0; -- end of the latest roll-up
ALTER TABLE alert_evaluation ADD COLUMN rollups      BIGINT NOT NULL DEFAULT 0; -- number of roll-ups
ALTER TABLE alert_evaluation ADD COLUMN promoted     BIGINT NOT NULL DEFAULT 0; -- newest hour that is current by the time
-- JSON: the evaluated hours of places that lag behind the newest one, in Unix seconds.
ALTER TABLE alert_evaluation ADD COLUMN lagging TEXT NOT NULL DEFAULT '{}';
