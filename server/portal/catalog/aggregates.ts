/**
 * Every aggregate type of the portal, one line each: its type and the members of `data` that identify one (ER-APP-13). A member
 * ending in `?` is there only where the row is specific to a host; it belongs to the row but not to its identity. Each type has
 * `…CreatedEvent`, `…UpdatedEvent` and `…DeletedEvent`; `also` names the others. A new aggregate type is one new line here; it
 * lands in `portal_entity_t` until `tables.ts` gives it a table of its own.
 */
export type Aggregate = {
  readonly type: string;
  readonly identity: readonly string[];
  readonly also: readonly ExtraEvent[];
  /** Member of an instance graph: schema version 2 of its events carries the graph's root and revision (see events.ts). */
  readonly graph: boolean;
};

/**
 * `SAVE` writes a complete row, as a Created event does; `PATCH` changes an existing row only. `implied` are members that the
 * event's name says rather than its data (`UserConfirmedEvent` verifies the user).
 */
export type ExtraEvent = {
  readonly verb: string;
  readonly effect: "SAVE" | "PATCH";
  readonly implied: Readonly<Record<string, string | boolean>>;
};

const saved = (verb: string): ExtraEvent => ({ verb, effect: "SAVE", implied: {} });
const patch = (verb: string, implied: ExtraEvent["implied"] = {}): ExtraEvent => ({ verb, effect: "PATCH", implied });

function aggregate(
  type: string,
  identity: string,
  options: { also?: readonly ExtraEvent[]; graph?: true } = {},
): Aggregate {
  return {
    type,
    identity: identity.split(",").filter((member) => !member.endsWith("?")),
    also: options.also ?? [],
    graph: options.graph ?? false,
  };
}

export const AGGREGATES: readonly Aggregate[] = [
  aggregate("AgentMemoryBank", "hostId,bankId"),
  aggregate("AgentMemoryDirective", "hostId,bankId,directiveId"),
  aggregate("AgentMemoryDoc", "hostId,bankId,docId"),
  aggregate("AgentMemoryEntity", "hostId,bankId,entityId"),
  aggregate("AgentMemoryLink", "hostId,bankId,fromUnitId,toUnitId,linkType"),
  aggregate("AgentMemoryReflection", "hostId,bankId,reflectionId"),
  aggregate("AgentMemoryUnit", "hostId,bankId,unitId"),
  aggregate("AgentMemoryUnitEntity", "hostId,bankId,unitId,entityId"),
  aggregate("AgentSkill", "hostId,agentDefId,skillId"),
  aggregate("Api", "hostId,apiId"),
  aggregate("ApiEndpoint", "hostId,endpointId"),
  aggregate("ApiEndpointRule", "hostId,endpointId,ruleId"),
  aggregate("ApiEndpointScope", "hostId,endpointId,scope"),
  aggregate("ApiVersion", "hostId,apiVersionId"),
  aggregate("ApiVersionSpec", "hostId,apiVersionId"),
  aggregate("App", "hostId,appId"),
  aggregate("Attribute", "hostId,attributeId"),
  aggregate("AttributeColFilter", "hostId,attributeId,endpointId"),
  aggregate("AttributePermission", "hostId,attributeId,endpointId"),
  aggregate("AttributeRowFilter", "hostId,attributeId,endpointId,colName"),
  aggregate("AttributeUser", "hostId,attributeId,userId"),
  aggregate("AuditLog", "hostId,auditLogId"),
  aggregate("AuthProvider", "hostId,providerId", { also: [patch("KeyRotated")] }),
  aggregate("AuthProviderApi", "hostId,providerId,apiId"),
  aggregate("AuthProviderClient", "hostId,providerId,clientId"),
  aggregate("AuthRefToken", "hostId,refToken", { also: [patch("Revoked", { revoked: true })] }),
  aggregate("Category", "hostId?,categoryId"),
  aggregate("Client", "hostId,clientId", { also: [patch("SecretRotated")] }),
  aggregate("ClientToken", "hostId,clientId,tokenId", { also: [patch("Revoked", { revoked: true })] }),
  aggregate("CompositeInstanceApi", "hostId,instanceApiId"),
  aggregate("CompositeInstanceApp", "hostId,instanceAppId"),
  aggregate("Config", "configId"),
  aggregate("ConfigDeploymentInstance", "hostId,deploymentInstanceId,propertyId"),
  aggregate("ConfigEnvironment", "hostId,environment,propertyId"),
  aggregate("ConfigInstance", "hostId,instanceId,propertyId", { graph: true }),
  aggregate("ConfigInstanceApi", "hostId,instanceApiId,propertyId", { graph: true }),
  aggregate("ConfigInstanceApp", "hostId,instanceAppId,propertyId", { graph: true }),
  aggregate("ConfigInstanceAppApi", "hostId,instanceAppId,instanceApiId,propertyId", { graph: true }),
  aggregate("ConfigInstanceFile", "hostId,instanceFileId", { graph: true }),
  aggregate("ConfigProduct", "productId,propertyId"),
  aggregate("ConfigProductVersion", "hostId,productVersionId,propertyId"),
  aggregate("ConfigProperty", "propertyId"),
  aggregate("ConfigSnapshot", "hostId,snapshotId", { also: [patch("Locked", { locked: true })] }),
  aggregate("Deployment", "hostId,deploymentId"),
  aggregate("DeploymentInstance", "hostId,deploymentInstanceId", { also: [patch("Promoted")] }),
  aggregate("EntityCategory", "entityId,entityType,categoryId"),
  aggregate("EntityTag", "entityId,entityType,tagId"),
  aggregate("Group", "hostId,groupId"),
  aggregate("GroupColFilter", "hostId,groupId,endpointId"),
  aggregate("GroupPermission", "hostId,groupId,endpointId"),
  aggregate("GroupRowFilter", "hostId,groupId,endpointId,colName"),
  aggregate("GroupUser", "hostId,groupId,userId"),
  aggregate("Host", "hostId"),
  aggregate("Instance", "hostId,instanceId", { graph: true }),
  aggregate("InstanceApi", "hostId,instanceApiId", { graph: true }),
  aggregate("InstanceApiPathPrefix", "hostId,instanceApiId,pathPrefix", { graph: true }),
  aggregate("InstanceApiProperty", "hostId,instanceApiId,propertyId", { graph: true }),
  aggregate("InstanceApp", "hostId,instanceAppId", { graph: true }),
  aggregate("InstanceAppApi", "hostId,instanceAppId,instanceApiId", { graph: true }),
  aggregate("InstanceAppApiProperty", "hostId,instanceAppId,instanceApiId,propertyId", { graph: true }),
  aggregate("InstanceAppProperty", "hostId,instanceAppId,propertyId", { graph: true }),
  aggregate("InstanceFile", "hostId,instanceFileId", { graph: true }),
  aggregate("InstanceProperty", "hostId,instanceId,propertyId", { graph: true }),
  aggregate("Org", "domain"),
  aggregate("PiiTokenScheme", "schemeId"),
  aggregate("PiiTokenVault", "hostId,token"),
  aggregate("Pipeline", "hostId,pipelineId"),
  aggregate("Platform", "hostId,platformId"),
  aggregate("Position", "hostId,positionId"),
  aggregate("PositionColFilter", "hostId,positionId,endpointId"),
  aggregate("PositionPermission", "hostId,positionId,endpointId"),
  aggregate("PositionRowFilter", "hostId,positionId,endpointId,colName"),
  aggregate("PositionUser", "hostId,positionId,userId"),
  aggregate("PrivateMessage", "conversationId", { also: [saved("Sent")] }),
  aggregate("ProcessInfo", "hostId,processId"),
  aggregate("ProductProperty", "productId,propertyId"),
  aggregate("ProductVersion", "hostId,productVersionId"),
  aggregate("ProductVersionConfig", "hostId,productVersionId,configId"),
  aggregate("ProductVersionConfigProperty", "hostId,productVersionId,propertyId"),
  aggregate("ProductVersionEnvironment", "hostId,productVersionId,systemEnv,runtimeEnv"),
  aggregate("ProductVersionPipeline", "hostId,productVersionId,pipelineId"),
  aggregate("ProductVersionProperty", "hostId,productVersionId,propertyId"),
  aggregate("RefLocale", "valueId,language"),
  aggregate("RefRelation", "relationId,valueIdFrom,valueIdTo"),
  aggregate("RefRelationType", "relationId"),
  aggregate("RefTable", "hostId?,tableId"),
  aggregate("RefValue", "valueId"),
  aggregate("Role", "hostId,roleId"),
  aggregate("RoleColFilter", "hostId,roleId,endpointId"),
  aggregate("RolePermission", "hostId,roleId,endpointId"),
  aggregate("RoleRowFilter", "hostId,roleId,endpointId,colName"),
  aggregate("RoleUser", "hostId,roleId,userId"),
  aggregate("Rule", "hostId?,ruleId"),
  aggregate("RuleTestCase", "hostId?,ruleId,testId"),
  aggregate("RuntimeInstance", "hostId,runtimeInstanceId"),
  aggregate("Schedule", "hostId,scheduleId", {
    also: [patch("Paused", { paused: true }), patch("Resumed", { paused: false })],
  }),
  aggregate("Schema", "hostId?,schemaId"),
  aggregate("Skill", "hostId,skillId"),
  aggregate("SkillDependency", "hostId,skillId,dependsOnSkillId"),
  aggregate("SkillTool", "hostId,skillId,toolId"),
  aggregate("SkillWorkflow", "hostId,skillId,wfDefId,workflowRole"),
  aggregate("Tag", "hostId?,tagId"),
  aggregate("TaskAssignment", "hostId,taskAsstId", { also: [patch("Completed", { status: "COMPLETED" })] }),
  aggregate("TaskInfo", "hostId,taskId", { also: [patch("Completed", { status: "COMPLETED" })] }),
  aggregate("Tool", "hostId,toolId"),
  aggregate("ToolParam", "hostId,paramId"),
  aggregate("User", "userId", {
    also: [
      saved("Onboarded"),
      patch("Confirmed", { verified: true }),
      patch("Verified", { verified: true }),
      patch("Locked", { locked: true }),
      patch("Unlocked", { locked: false }),
    ],
  }),
  aggregate("UserHost", "userId,hostId"),
  aggregate("Workflow", "hostId,wfInstanceId", {
    also: [patch("Completed", { status: "COMPLETED" }), patch("Cancelled", { status: "CANCELLED" })],
  }),
  aggregate("WorkflowDefinition", "hostId,wfDefId"),
  aggregate("Worklist", "hostId,assigneeId,categoryId"),
  aggregate("WorklistColumn", "hostId,assigneeId,categoryId,sequenceId"),
];
