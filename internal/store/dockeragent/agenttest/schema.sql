-- The schema of docker agent's database: what the runtime creates before any migration runs,
-- and its migrations, with the names and descriptions that the migrations table holds. SQLite
-- keeps the text of a table as it was written, white space included, so the layout is upstream's.

--- bootstrap
CREATE TABLE sessions (
			id TEXT PRIMARY KEY,
			messages TEXT,
			created_at TEXT
		);
CREATE TABLE migrations (
			id INTEGER PRIMARY KEY,
			name TEXT UNIQUE NOT NULL,
			description TEXT,
			applied_at TEXT NOT NULL
		);

--- 001_add_tools_approved_column Add tools_approved column to sessions table
ALTER TABLE sessions ADD COLUMN tools_approved BOOLEAN DEFAULT 0;

--- 002_add_usage_column Add usage column to sessions table
ALTER TABLE sessions ADD COLUMN input_tokens INTEGER DEFAULT 0;

--- 003_add_output_tokens_column Add output_tokens column to sessions table
ALTER TABLE sessions ADD COLUMN output_tokens INTEGER DEFAULT 0;

--- 004_add_title_column Add title column to sessions table
ALTER TABLE sessions ADD COLUMN title TEXT DEFAULT '';

--- 005_add_cost_column Add cost column to sessions table
ALTER TABLE sessions ADD COLUMN cost REAL DEFAULT 0;

--- 006_add_send_user_message_column Add send_user_message column to sessions table
ALTER TABLE sessions ADD COLUMN send_user_message BOOLEAN DEFAULT 1;

--- 007_add_max_iterations_column Add max_iterations column to sessions table
ALTER TABLE sessions ADD COLUMN max_iterations INTEGER DEFAULT 0;

--- 008_add_working_dir_column Add working_dir column to sessions table
ALTER TABLE sessions ADD COLUMN working_dir TEXT DEFAULT '';

--- 009_add_starred_column Add starred column to sessions table
ALTER TABLE sessions ADD COLUMN starred BOOLEAN DEFAULT 0;

--- 010_add_permissions_column Add permissions column to sessions table for session-level permission overrides
ALTER TABLE sessions ADD COLUMN permissions TEXT DEFAULT '';

--- 011_add_agent_model_overrides_column Add agent_model_overrides column to sessions table for per-session model switching
ALTER TABLE sessions ADD COLUMN agent_model_overrides TEXT DEFAULT '{}';

--- 012_add_custom_models_used_column Add custom_models_used column to sessions table for tracking custom models used in session
ALTER TABLE sessions ADD COLUMN custom_models_used TEXT DEFAULT '[]';

--- 013_add_thinking_column Add thinking column to sessions table for session-level thinking toggle (default enabled)
ALTER TABLE sessions ADD COLUMN thinking BOOLEAN DEFAULT 1;

--- 014_normalize_session_items Add session_items table and parent_id column for normalized session storage
ALTER TABLE sessions ADD COLUMN parent_id TEXT REFERENCES sessions(id) ON DELETE CASCADE;
CREATE INDEX idx_sessions_parent_id ON sessions(parent_id);
CREATE TABLE session_items (
					id INTEGER PRIMARY KEY AUTOINCREMENT,
					session_id TEXT NOT NULL,
					position INTEGER NOT NULL,
					item_type TEXT NOT NULL,
					agent_name TEXT,
					message_json TEXT,
					implicit BOOLEAN DEFAULT 0,
					subsession_id TEXT,
					summary_text TEXT,
					FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
					FOREIGN KEY (subsession_id) REFERENCES sessions(id) ON DELETE SET NULL
				);
CREATE INDEX idx_session_items_session ON session_items(session_id, position);

--- 015_migrate_messages_to_session_items Migrate existing messages JSON data to session_items table
-- It moves data only, and a new database has none to move.

--- 016_add_branching_columns Add branch metadata columns for session branching
ALTER TABLE sessions ADD COLUMN branch_parent_session_id TEXT REFERENCES sessions(id) ON DELETE SET NULL;
ALTER TABLE sessions ADD COLUMN branch_parent_position INTEGER;
ALTER TABLE sessions ADD COLUMN branch_created_at TEXT;
CREATE INDEX idx_sessions_branch_parent ON sessions(branch_parent_session_id);

--- 017_add_split_diff_view_column Add split_diff_view column to sessions table for persisting split diff toggle
ALTER TABLE sessions ADD COLUMN split_diff_view BOOLEAN;

--- 018_add_session_items_type_index Add index on session_items(session_id, item_type) to speed up session summary message counts
CREATE INDEX idx_session_items_session_type ON session_items(session_id, item_type);

--- 019_drop_branch_and_split_diff_columns Drop unused branch metadata columns and split_diff_view column
DROP INDEX idx_sessions_branch_parent;
ALTER TABLE sessions DROP COLUMN branch_parent_session_id;
ALTER TABLE sessions DROP COLUMN branch_parent_position;
ALTER TABLE sessions DROP COLUMN branch_created_at;
ALTER TABLE sessions DROP COLUMN split_diff_view;

--- 020_drop_messages_column Drop the legacy messages JSON column now that all data lives in session_items
ALTER TABLE sessions DROP COLUMN messages;

--- 021_add_first_kept_entry_column Add first_kept_entry column to session_items for compaction-preserved messages
ALTER TABLE session_items ADD COLUMN first_kept_entry INTEGER DEFAULT 0;

--- 022_add_instruction_context_column Persist cache-stable instruction snapshots and chronological updates
ALTER TABLE sessions ADD COLUMN instruction_context TEXT DEFAULT '';

--- 023_add_cost_to_session_items Add cost column to session_items so compaction summary costs survive reload
ALTER TABLE session_items ADD COLUMN cost REAL NOT NULL DEFAULT 0;

--- 024_add_safety_policy_column Add safety_policy column to sessions table
ALTER TABLE sessions ADD COLUMN safety_policy TEXT DEFAULT '';

--- 025_add_model_usage_to_session_items Add model and usage_json columns to session_items so compaction summary costs can be attributed per model
ALTER TABLE session_items ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE session_items ADD COLUMN usage_json TEXT NOT NULL DEFAULT '';

--- 026_add_session_attributes_column Add generic attributes to sessions
ALTER TABLE sessions ADD COLUMN attributes TEXT DEFAULT '{}';

--- 027_add_session_origin_column Record the protocol surface that created each session
ALTER TABLE sessions ADD COLUMN origin TEXT NOT NULL DEFAULT 'run';

--- 028_add_generated_media_manifest_table Record which workspace files generated-media materialization wrote, keyed by owning session and workspace-relative path
CREATE TABLE generated_media_manifest (
					session_id TEXT NOT NULL,
					rel_path TEXT NOT NULL,
					mime_type TEXT NOT NULL,
					created_at TEXT NOT NULL,
					PRIMARY KEY (session_id, rel_path)
				);

--- 029_add_generated_media_blob_table Store generated-media payloads beside the manifest
CREATE TABLE generated_media_blobs (
					session_id TEXT NOT NULL,
					rel_path TEXT NOT NULL,
					data BLOB NOT NULL,
					PRIMARY KEY (session_id, rel_path)
				);

--- 030_add_root_kind_to_generated_media_manifest Add root_kind to generated_media_manifest so user-confirmed out-of-workspace generated files stay manifest-gated alongside workspace-relative ones
ALTER TABLE generated_media_manifest ADD COLUMN root_kind TEXT NOT NULL DEFAULT 'workspace';
