-- The tables of goose by the versions of the schema that added to them: see Build. What
-- the dossier does not tell of the first versions has the types of version 16.

--- 1
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT '2026-11-22 13:27:05');
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, schedule_id TEXT, recipe_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER);
CREATE INDEX idx_messages_session ON messages(session_id);
--- 2
ALTER TABLE sessions ADD COLUMN user_recipe_values_json TEXT;
--- 3
ALTER TABLE messages ADD COLUMN metadata_json TEXT;
--- 4
ALTER TABLE sessions ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN user_set_name BOOLEAN DEFAULT FALSE;
--- 5
ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user';
CREATE INDEX idx_sessions_type ON sessions(session_type);
--- 6
ALTER TABLE sessions ADD COLUMN provider_name TEXT;
ALTER TABLE sessions ADD COLUMN model_config_json TEXT;
--- 7
ALTER TABLE messages ADD COLUMN message_id TEXT;
CREATE INDEX idx_messages_message_id ON messages(message_id);
--- 8
ALTER TABLE sessions ADD COLUMN goose_mode TEXT NOT NULL DEFAULT 'auto';
--- 10
ALTER TABLE sessions ADD COLUMN thread_id TEXT;
CREATE TABLE threads (id TEXT PRIMARY KEY);
--- 12
ALTER TABLE sessions ADD COLUMN archived_at TIMESTAMP;
ALTER TABLE sessions ADD COLUMN project_id TEXT;
--- 13
ALTER TABLE sessions ADD COLUMN accumulated_cost REAL;
--- 14
ALTER TABLE sessions ADD COLUMN cache_read_tokens INTEGER;
ALTER TABLE sessions ADD COLUMN cache_write_tokens INTEGER;
--- 15
ALTER TABLE sessions ADD COLUMN parent_session_id TEXT;
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, created_timestamp INTEGER NOT NULL, model TEXT);
--- 16
CREATE INDEX idx_messages_session_created ON messages(session_id, created_timestamp, id);
--- 17
ALTER TABLE sessions ADD COLUMN parent_delegation TEXT;
