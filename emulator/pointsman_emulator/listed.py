"""What is answered at an address: these operations, as docs/emulator.md lists them, and no others."""

from __future__ import annotations

from collections.abc import Mapping

OPERATIONS: Mapping[str, frozenset[str]] = {
    service: frozenset(operations.split())
    for service, operations in {
        "application-autoscaling": """
            DeleteScalingPolicy DeregisterScalableTarget DescribeScalableTargets DescribeScalingPolicies
            PutScalingPolicy RegisterScalableTarget
        """,
        "batch": """
            CreateComputeEnvironment CreateJobQueue CreateQuotaShare CreateSchedulingPolicy CreateServiceEnvironment
            DeleteComputeEnvironment DeleteJobQueue DeleteQuotaShare DeleteSchedulingPolicy DeleteServiceEnvironment
            DeregisterJobDefinition DescribeComputeEnvironments DescribeJobDefinitions DescribeJobQueues
            DescribeQuotaShare DescribeSchedulingPolicies DescribeServiceEnvironments DescribeServiceJob
            GetJobQueueSnapshot ListQuotaShares ListSchedulingPolicies ListServiceJobs ListTagsForResource
            RegisterJobDefinition SubmitServiceJob TagResource TerminateServiceJob TerminateServiceJobs UntagResource
            UpdateComputeEnvironment UpdateJobQueue UpdateQuotaShare UpdateSchedulingPolicy UpdateServiceEnvironment
            UpdateServiceJob
        """,
        "cloudformation": """
            DescribeStackResource DescribeStackResources DescribeStacks GetTemplate ListStackResources ListStacks
        """,
        "cloudwatch": """
            DeleteAlarms DescribeAlarmHistory DescribeAlarms DescribeAlarmsForMetric DisableAlarmActions
            EnableAlarmActions GetDashboard GetMetricData GetMetricStatistics ListDashboards ListMetrics
            ListTagsForResource PutMetricAlarm PutMetricData SetAlarmState TagResource UntagResource
        """,
        "dynamodb": """
            BatchGetItem BatchWriteItem CreateTable DeleteItem DeleteTable DescribeTable DescribeTimeToLive GetItem
            ListTables PutItem Query Scan TransactGetItems TransactWriteItems UpdateItem UpdateTimeToLive
        """,
        "ec2": "DescribeInstanceTypes",
        "ecr": "BatchGetImage CreateRepository DescribeImages DescribeRepositories ListImages PutImage",
        "events": """
            CreateEventBus DeleteEventBus DeleteRule DescribeEventBus DescribeRule DisableRule EnableRule ListEventBuses
            ListRules ListTargetsByRule PutEvents PutRule PutTargets RemoveTargets
        """,
        "iam": """
            AttachRolePolicy CreateRole DeleteRole DeleteRolePolicy DetachRolePolicy GetRole GetRolePolicy
            ListAttachedRolePolicies ListRolePolicies ListRoles PutRolePolicy SimulatePrincipalPolicy
        """,
        "lambda": "GetFunction GetFunctionConfiguration Invoke ListEventSourceMappings ListFunctions",
        "s3": """
            AbortMultipartUpload CompleteMultipartUpload CopyObject CreateBucket CreateMultipartUpload DeleteBucket
            DeleteObject DeleteObjects GetBucketLocation GetObject HeadBucket HeadObject ListBuckets ListObjects
            ListObjectsV2 ListParts PutObject UploadPart
        """,
        "sagemaker": """
            AddTags CreateEndpoint CreateEndpointConfig CreateInferenceComponent CreateModel DeleteEndpoint
            DeleteEndpointConfig DeleteInferenceComponent DeleteModel DeleteTags DescribeEndpoint DescribeEndpointConfig
            DescribeInferenceComponent DescribeModel ListEndpointConfigs ListEndpoints ListInferenceComponents
            ListModels ListTags UpdateEndpoint UpdateEndpointWeightsAndCapacities UpdateInferenceComponent
            UpdateInferenceComponentRuntimeConfig
        """,
        "sns": """
            CreateTopic DeleteTopic GetTopicAttributes ListSubscriptions ListSubscriptionsByTopic ListTopics Publish
            Subscribe Unsubscribe
        """,
        "sqs": """
            ChangeMessageVisibility ChangeMessageVisibilityBatch CreateQueue DeleteMessage DeleteMessageBatch
            DeleteQueue GetQueueAttributes GetQueueUrl ListQueues PurgeQueue ReceiveMessage SendMessage SendMessageBatch
            SetQueueAttributes
        """,
        "stepfunctions": """
            DescribeExecution DescribeStateMachine GetExecutionHistory ListExecutions ListStateMachines SendTaskFailure
            SendTaskSuccess StartExecution StopExecution
        """,
        "sts": "AssumeRole GetCallerIdentity",
    }.items()
}
"""By boto3's name of the service."""
